/** Looks again and again; the timeout of the test is the limit. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(1)
}
