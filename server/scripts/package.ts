/** Writes the packages to dist: a tarball with the executable of `npm run build`, and a .deb if dpkg-deb is installed. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSION } from '../src/core/values/version.ts'
import { buildDebianPackage, run, writeDebianFolder, writeTarballFolder } from './package-files.ts'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const EXECUTABLE = join(DIST, 'petstore')

const name = `petstore-${VERSION}-${process.platform}-${process.arch}`
inFolder(name, (folder) => {
  writeTarballFolder(folder, EXECUTABLE)
  run(['tar', '--create', '--gzip', '--owner=0', '--group=0', '--file', `${name}.tar.gz`, name], DIST)
})
console.log(`dist/${name}.tar.gz`)
if (Bun.which('dpkg-deb') === null) console.log('no .deb, because dpkg-deb is not installed')
else {
  inFolder('debian', (folder) => {
    writeDebianFolder(folder, EXECUTABLE)
    console.log(`dist/${buildDebianPackage(folder, DIST)}`)
  })
}

function inFolder(folderName: string, work: (folder: string) => void): void {
  const folder = join(DIST, folderName)
  rmSync(folder, { recursive: true, force: true })
  try {
    work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
