import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../src/core/values/version.ts'

const ROOT = join(import.meta.dir, '..', '..')

/** The folders of a map drawn as a tree, with their descriptions. Two more spaces are one level deeper. */
function foldersOf(map: string): Map<string, string> {
  const folders = new Map<string, string>()
  const above: string[] = []
  for (const line of map.split('\n').filter((text) => text.trim() !== '')) {
    const [, indent = '', name, text = ''] = /^( *)(\S+\/)(?: +(.*))?$/.exec(line) ?? []
    if (name === undefined) throw new Error(`the map has a line that names no folder: ${line}`)
    above.length = indent.length / 2
    folders.set([...above, name].join('').slice(0, -1), text.trim())
    above.push(name)
  }
  return folders
}

/** Deeper folders are in the map if their names do not explain them. */
const MAPPED_DEPTH = 3

/** The differences between the map and the existing folders. */
function differences(map: ReadonlyMap<string, string>, folders: readonly string[]): string[] {
  const mapped = folders.filter((folder) => folder.split('/').length <= MAPPED_DEPTH)
  return [
    ...mapped.filter((folder) => !map.has(folder)).map((folder) => `${folder} is not in the map`),
    ...[...map.keys()].filter((name) => !folders.includes(name)).map((name) => `${name} is not there`),
    // A folder without files of its own needs no description.
    ...[...map]
      .filter(([name, text]) => text === '' && holdsFiles(name))
      .map(([name]) => `${name}: what may live there?`),
  ]
}

function holdsFiles(folder: string): boolean {
  const path = join(ROOT, folder)
  return existsSync(path) && readdirSync(path, { withFileTypes: true }).some((entry) => entry.isFile())
}

/** All folders with a file in or below them, except ignored ones. A pattern that starts with `/` ignores one path only. */
function foldersIn(folder: string, ignored: readonly string[]): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== '.git' && !ignored.includes(entry.name))
    .map(({ name }) => (folder === '' ? name : `${folder}/${name}`))
    .filter((path) => !ignored.includes(path) && !ignored.includes(`/${path}`))
    .flatMap((path) => {
      const below = foldersIn(path, ignored)
      return below.length > 0 || holdsFiles(path) ? [path, ...below] : []
    })
}

const ignoredFolders = readFileSync(join(ROOT, '.gitignore'), 'utf8')
  .split('\n')
  .filter((line) => line.endsWith('/'))
  .map((line) => line.slice(0, -1))
const contributing = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
const map = foldersOf(/## Where things are\n\n```\n(.*?)```/s.exec(contributing)?.[1] ?? '')

describe('CONTRIBUTING.md', () => {
  test('names the folders of the repository and no other, with a description', () => {
    expect(differences(map, foldersIn('', ignoredFolders))).toEqual([])
  })

  test('names only existing files', () => {
    const paths = [...contributing.matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|json|md))`/g)].map(
      (match) => match[1] ?? '',
    )
    expect(paths.length).toBeGreaterThan(5)
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const named = [...map.values()].flatMap((text) => text.match(/[\w-]+\.ts\b/g) ?? [])
    expect(named.length).toBeGreaterThan(5)
    const isThere = (name: string) => [...map.keys()].some((folder) => existsSync(join(ROOT, folder, name)))
    expect(named.filter((name) => !isThere(name))).toEqual([])
  })
})

test('the program and the newest changelog entry have the same version', () => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  const { version } = JSON.parse(read('package.json'))
  const newest = /^## (\d\S*)/m.exec(read('CHANGELOG.md'))?.[1]
  expect([version, newest]).toEqual([VERSION, VERSION])
})
