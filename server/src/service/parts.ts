/** A part of the service, such as a listener. Parts start in the order of their list and stop in reverse order. */
export interface Part {
  readonly name: string
  /** Absent if the part is already running. `startParts` does not stop such a part if another part fails to start. */
  readonly start?: () => void | Promise<void>
  readonly stop: () => void | Promise<void>
}

/** If a part fails to start, stops the parts that were started before it. */
export async function startParts(parts: readonly Part[]): Promise<void> {
  const started: Part[] = []
  for (const part of parts) {
    if (part.start === undefined) continue
    try {
      await part.start()
      started.push(part)
    } catch (error) {
      await stopParts(started, () => {}).catch(() => {})
      throw error
    }
  }
}

/** Stops all parts, even if some fail to stop. Reports each failure and finally throws the first failure. */
export async function stopParts(
  parts: readonly Part[],
  onFailure: (part: Part, error: unknown) => void,
): Promise<void> {
  const failures: unknown[] = []
  for (const part of parts.toReversed()) {
    try {
      await part.stop()
    } catch (error) {
      onFailure(part, error)
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
