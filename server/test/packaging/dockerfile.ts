/** One instruction of a Dockerfile, such as `RUN` with its arguments. */
export interface Instruction {
  readonly name: string
  readonly args: string
}

/** The instructions of each stage, beginning with its FROM. */
export function readStages(text: string): Instruction[][] {
  const stages: Instruction[][] = []
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n/g, ' ')
  for (const line of lines.split('\n')) {
    const [, name, args = ''] = /^([A-Z]+) +(.*)$/.exec(line.trim()) ?? []
    if (name === undefined) continue
    if (name === 'FROM') stages.push([])
    // Before the first FROM there are only the arguments of the FROM instructions.
    stages.at(-1)?.push({ name, args: args.trim() })
  }
  return stages
}

/** `HOST=0.0.0.0 PORT=8080` */
export function readVariables(args: string): Record<string, string> {
  return Object.fromEntries(
    args.split(/\s+/).map((assignment) => {
      const [name = '', value = ''] = assignment.split(/=(.*)/s)
      return [name, value]
    }),
  )
}
