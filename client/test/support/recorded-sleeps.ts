/** Sleeps that take no time, by a clock that goes on with them, and a record of how long they would have been. */
export function recordedSleeps() {
  const sleeps: number[] = []
  let now = 0
  const sleep = async (ms: number) => {
    sleeps.push(ms)
    now += ms
  }
  return { sleeps, options: { sleep, clock: () => now, random: () => 0.5 } }
}
