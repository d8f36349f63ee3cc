import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { supportedNode } from '../../../client/test/support/node.ts'
import { type Run, runProgram } from '../../../server/test/support/run-program.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const VERSION = '2.12.0'
/** It has 120 packages, so it is no dependency, and is installed once for all runs of the tests. */
const FOLDER = join(ROOT, 'node_modules/.cache/petstore', `inspector-${VERSION}`)
const PROGRAM = join(FOLDER, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js')

/** Runs the command line of the inspector. */
export type Inspector = (words: readonly string[]) => Promise<Run>

/** The inspector from npm; `undefined` without a connection to npm. */
export async function installInspector(): Promise<Inspector | undefined> {
  mkdirSync(FOLDER, { recursive: true })
  const node = await supportedNode(FOLDER)
  if (node === undefined || !(existsSync(PROGRAM) || (await install()))) return undefined
  // It writes a list of servers into the home folder.
  const env = { HOME: FOLDER, MCP_CATALOG_PATH: join(FOLDER, 'mcp.json') }
  return (words) => runProgram([node, PROGRAM, '--cli', ...words], { cwd: FOLDER, env })
}

async function install(): Promise<boolean> {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', FOLDER]
  const words = ['npm', 'install', ...options, `@modelcontextprotocol/inspector@${VERSION}`]
  return (await runProgram(words, { cwd: FOLDER })).exitCode === 0
}
