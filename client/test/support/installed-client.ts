import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, run } from './built-client.ts'

/** The files of the repository that `npm pack` needs. */
const SOURCES = [
  'tsconfig.base.json',
  'client/package.json',
  'client/README.md',
  'client/tsconfig.src.json',
  'client/src',
]
const EXERCISE = ['exercise.mjs', 'exercise-installed.mjs']

/**
 * Creates a project below this folder with the tarball of `npm pack` in its node_modules, and `exercise.mjs`. It packs a
 * copy of the client, because packing rebuilds `dist`, which other tests read.
 */
export async function installClient(folder: string): Promise<string> {
  const [sources, project] = [join(folder, 'sources'), join(folder, 'project')]
  for (const path of SOURCES) cpSync(ROOT + path, join(sources, path), { recursive: true })
  symlinkSync(`${ROOT}node_modules`, join(sources, 'node_modules'))
  await npm(['pack', '--pack-destination', folder], join(sources, 'client'))
  mkdirSync(project)
  await Bun.write(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const { version } = await Bun.file(`${ROOT}client/package.json`).json()
  await npm(['install', '--offline', '--no-audit', '--no-fund', `../petstore-client-${version}.tgz`], project)
  for (const name of EXERCISE) cpSync(join(import.meta.dir, name), join(project, name))
  return project
}

async function npm(words: readonly string[], folder: string): Promise<void> {
  const { exitCode, stdout, stderr } = await run(['npm', ...words], folder)
  if (exitCode !== 0) throw new Error(`npm ${words.join(' ')} failed:\n${stdout}${stderr}`)
}
