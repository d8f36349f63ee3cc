import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingPackage } from '../../../wire/test/debian-package.ts'

/** What `disk-shim.c` reads from the environment. */
export interface DiskSettings {
  readonly DISK_HOLDS_IF?: string
  readonly DISK_FAILS_IF?: string
}

let built: Promise<string> | undefined

/** Why the shim cannot work on this machine; undefined if it can. */
export async function missingShim(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'the disk shim is preloaded, which works on Linux only'
  return (await missingPackage('gcc')) ?? ((await hasHeaders()) ? undefined : 'libc6-dev is not installed')
}

/** A program that starts another one on a disk with these settings. */
export async function throughDisk(settings: DiskSettings): Promise<string[]> {
  built ??= build()
  const library = await built
  return [
    'env',
    `LD_PRELOAD=${library}`,
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
  ]
}

async function build(): Promise<string> {
  const library = join(mkdtempSync(join(tmpdir(), 'petstore-shim-')), 'disk-shim.so')
  const source = join(import.meta.dir, 'disk-shim.c')
  const compiler = Bun.spawn(['gcc', '-shared', '-fPIC', '-O2', '-o', library, source], {
    stderr: 'pipe',
  })
  const [problems, exitCode] = await Promise.all([new Response(compiler.stderr).text(), compiler.exited])
  if (exitCode !== 0) throw new Error(`gcc could not build the disk shim: ${problems}`)
  return library
}

async function hasHeaders(): Promise<boolean> {
  return Bun.file('/usr/include/stdio.h').exists()
}
