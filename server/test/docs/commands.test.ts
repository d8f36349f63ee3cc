import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingPackage } from '../../../wire/test/debian-package.ts'
import { PROGRAM, startPetstore } from '../cli/petstore.ts'
import { freePort } from '../support/free-port.ts'
import { runProgram } from '../support/run-program.ts'
import { until } from '../support/until.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** Blocks that this test does not run, by their first words, and where they are run instead. */
const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'npm ci': 'CI runs it',
  'npm run race': 'server/test/docs/examples',
  'npm run torture': 'server/test/faults has the short forms',
  'npm run bench': 'it takes minutes',
  'docker ': 'needs a container engine',
  'export COMPOSE_FILE': 'needs a container engine',
  'npx quicktype': 'npm run generators',
  'npx openapi': 'npm run generators',
  'npm install': 'client/test installs the packed client',
  'pip install': 'client-python is installed by its test',
  pgbackrest: 'server/test/postgres/pgbackrest',
  pg_ctlcluster: 'server/test/postgres/pgbackrest',
  pg_dump: 'server/test/postgres/restore',
  'export DATABASE_URL=postgres': 'server/test/cli/copy',
  './install.sh': 'server/test/packaging/package installs into a folder',
  'petstore backup today.db': 'needs another machine',
  'BACKUP_TO=': 'server/test/faults/backup/machine-is-gone',
  'petstore restore /mnt': 'server/test/faults/backup/machine-is-gone',
  'petstore follow': 'server/test/faults/backup/machine-is-gone',
  'mkdir /mnt': 'server/test/faults/backup/machine-is-gone',
  'systemctl ': 'the units are checked in server/test/packaging/package',
  'journalctl ': 'needs systemd',
  'CORS_ORIGINS=': 'server/test/http/cors',
}

interface Block {
  readonly page: string
  readonly text: string
}

const blocks: readonly Block[] = PAGES.flatMap((page) =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)].map((match) => ({
    page,
    text: match[1] ?? '',
  })),
)
const isRunElsewhere = ({ text }: Block) => Object.keys(RUN_ELSEWHERE).some((start) => text.startsWith(start))

const missingCurl = await missingPackage('curl')
if (missingCurl !== undefined) console.warn(`skipped: ${missingCurl}`)
const needsCurl = ({ text }: Block) => /\bcurl\b/.test(text)

const folder = mkdtempSync(join(tmpdir(), 'petstore-docs-'))
const port = freePort()
let service: ReturnType<typeof startPetstore>

beforeAll(async () => {
  const program = PROGRAM.map((word) => `'${word}'`).join(' ')
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'backups'))
  writeFileSync(join(folder, 'bin/petstore'), `#!/bin/sh\nexec ${program} "$@"\n`)
  writeFileSync(join(folder, 'bin/npx'), '#!/bin/sh\nexec "$@"\n')
  for (const name of ['petstore', 'npx']) chmodSync(join(folder, 'bin', name), 0o755)
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true })
  cpSync(join(ROOT, 'examples/pets.csv'), join(folder, 'pets.csv'))
  writeFileSync(join(folder, 'delivery.csv'), 'petId,delta\n1,12\n2,5\n')
  writeFileSync(join(folder, 'count.csv'), 'petId,quantity\n1,12\n')
  await bash('petstore import pets pets.csv')
  service = startPetstore(['serve', '--demo', '--port', String(port)], { cwd: folder })
  await until(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    return response?.status === 200
  })
})
afterAll(async () => {
  service.kill('SIGTERM')
  await service.exited
  rmSync(folder, { recursive: true, force: true })
})

function bash(script: string) {
  return runProgram(['bash', '-e', '-o', 'pipefail', '-c', script], {
    cwd: folder,
    env: {
      PATH: `${folder}/bin:/usr/local/bin:/usr/bin:/bin`,
      METRICS_PORT: 'off',
      DATABASE_URL: `sqlite:${folder}/data/petstore.db`,
    },
  })
}

/** The commands of a page as they can be repeated here: in this folder, on a free port, without a person who answers. */
function repeatable(text: string): string {
  return text
    .replaceAll('/var/backups', `${folder}/backups`)
    .replaceAll(':8080', `:${port}`)
    .replace(/^petstore export (\S+\.csv)/gm, 'petstore export --force $1')
    .replace(/^petstore export --categories (\S+)/gm, 'petstore export --force --categories $1')
    .replace(/^(petstore history prune (?!.*--dry-run).*)$/gm, '$1 --yes')
    .replace(/^(npx )?petstore serve.*$/gm, '')
}

test('there are commands to run', () => {
  expect(blocks.filter((block) => !isRunElsewhere(block)).length).toBeGreaterThan(5)
})

for (const block of blocks.filter((candidate) => !isRunElsewhere(candidate))) {
  const [firstLine = ''] = block.text.split('\n')
  test.skipIf(missingCurl !== undefined && needsCurl(block))(`${block.page}: ${firstLine}`, async () => {
    const { exitCode, stderr } = await bash(repeatable(block.text))
    expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, ''])
  })
}

/** Gives up after two minutes, so that a failed tour leaves no process behind. */
const untilStreamed = (event: string) =>
  `for _ in {1..1200}; do grep -q 'event: ${event}' stream.txt && break; sleep 0.1; done`

test.skipIf(missingCurl !== undefined)('the tour of the README shows what it says', async () => {
  const tour = blocks.find(({ text }) => text.startsWith('api=http'))
  const { stdout } = await bash(
    // Pet 10 was ordered by the test above.
    repeatable(tour?.text ?? '')
      .replaceAll(/\b10\b/g, '5')
      // A person sees when the stream has begun and ended; here a file shows it.
      .replace(/ & sleep 1$/m, ` > stream.txt & ${untilStreamed('ready')}`)
      .replace('kill %1', `${untilStreamed('order')}; cat stream.txt; kill %1`),
  )
  expect(stdout).toContain('event: change')
  expect(stdout).toContain('"state":"open"')
  expect(stdout).toContain('insufficient_stock')
  expect(stdout).toContain('event: order')
})

test('the client in the README runs as printed', async () => {
  const [, code = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? []
  // The client is found from the folder of the repository.
  const file = join(ROOT, `node_modules/.readme-${process.pid}.ts`)
  writeFileSync(file, repeatable(code))
  try {
    const { exitCode, stdout, stderr } = await runProgram([process.execPath, file], { cwd: folder })
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain('Maria Lopez')
  } finally {
    rmSync(file)
  }
})
