import { expect, test } from 'bun:test'
import { Glob } from 'bun'

const ROOT = new URL('../', import.meta.url).pathname

test('the example in the README prints the output that it shows', async () => {
  const readme = await Bun.file(`${ROOT}README.md`).text()
  const code = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? ''
  const run = Bun.spawn([process.execPath, 'run', '-'], {
    cwd: ROOT,
    stdin: Buffer.from(code),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ])
  expect(stderr).toBe('')
  expect(stdout.trim()).toBe(/console\.log\(.*\) \/\/ (.*)/.exec(code)?.[1] ?? 'nothing')
})

test('neither sources nor tests import from other workspaces', async () => {
  const imported: string[] = []
  for await (const path of new Glob('{src,test}/**/*.ts').scan(ROOT)) {
    const source = await Bun.file(ROOT + path).text()
    for (const [, target = ''] of source.matchAll(/^(?:import|export)\b[^'"]*from ['"]([^'"]+)['"]/gm)) {
      const isInside =
        target.startsWith('.') && new URL(target, `file://${ROOT}${path}`).pathname.startsWith(ROOT)
      if (!isInside) imported.push(target)
    }
  }
  const allowed = /^(?:bun|bun:test|node:[a-z]+|fast-check)$/
  expect(imported.filter((target) => !allowed.test(target))).toEqual([])
  expect(imported).toContain('fast-check')
})
