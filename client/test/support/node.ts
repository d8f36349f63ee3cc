import { join } from 'node:path'
import { run } from './built-client.ts'

const VERSION = '22.23.3'

/** The major version of the Node in PATH. */
export async function nodeVersion(): Promise<number> {
  const { stdout } = await run(['node', '--print', 'process.versions.node'])
  return Number.parseInt(stdout, 10)
}

/** A Node that the client supports: the one in PATH, or else one from npm; `undefined` without a connection to npm. */
export async function supportedNode(folder: string): Promise<string | undefined> {
  if ((await nodeVersion()) >= 22) return 'node'
  const name = `node-${process.platform}-${process.arch}`
  const install = ['npm', 'install', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${VERSION}`]
  const { exitCode } = await run(install)
  return exitCode === 0 ? join(folder, 'node_modules', name, 'bin/node') : undefined
}
