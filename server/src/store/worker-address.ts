/**
 * The address of a worker's source below `server/src`. In the executable, `bun build --compile` puts the workers that its
 * command line names at the same place below its own root.
 */
export function workerAddress(path: string): string | URL {
  const isExecutable = import.meta.url.includes('$bunfs')
  return isExecutable ? `/$bunfs/root/${path.replace(/ts$/, 'js')}` : new URL(`../${path}`, import.meta.url)
}
