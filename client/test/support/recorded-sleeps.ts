/** Sleeps that only advance a clock, and a record of their durations. */
export function recordedSleeps() {
  const sleeps: number[] = []
  let now = 0
  const sleep = async (ms: number) => {
    sleeps.push(ms)
    now += ms
  }
  return { sleeps, options: { sleep, clock: () => now, random: () => 0.5 } }
}
