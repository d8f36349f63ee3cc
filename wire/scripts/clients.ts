/**
 * Runs the installed HTTP clients against a listener, and prints which clients ran, failed or are missing:
 * `bun wire/scripts/clients.ts`. Fails if a client did not get the expected responses.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Handler, headerLines, listen } from '../src/index.ts'
import { GO, NODE_AGENT, NODE_FETCH, PYTHON } from './client-programs.ts'

interface Client {
  readonly name: string
  /** The executable that must be installed. */
  readonly program: string
  readonly args: (address: string, folder: string) => readonly string[]
  /** The expected output: the responses to POST with the body "pets" and to GET, or the statistics of a load generator. */
  readonly expectedOutput: RegExp
}

const lines = headerLines({ 'Content-Type': 'text/plain' })
const handler: Handler = {
  answer: async (request) => {
    const body = Buffer.from(await request.body()).toString()
    return { status: 200, lines, body: `${request.method} ${request.path} [${body}]\n` }
  },
  refuse: ({ message }) => ({ status: 400, lines, body: message }),
}

const POST_THEN_GET = /POST \/a \[pets\]\s+GET \/b \[\]/

const CLIENTS: readonly Client[] = [
  {
    name: 'curl --http2',
    program: 'curl',
    args: (address) => [
      '-sS',
      '--http2',
      '-d',
      'pets',
      `${address}/a`,
      '--next',
      '-sS',
      '--http2',
      `${address}/b`,
    ],
    expectedOutput: POST_THEN_GET,
  },
  {
    name: 'wget',
    program: 'wget',
    args: (address) => ['-q', '-O', '-', `${address}/a`, `${address}/b`],
    expectedOutput: /GET \/a \[\]\s+GET \/b \[\]/,
  },
  {
    name: "Python's http.client",
    program: 'python3',
    args: (address) => ['-c', PYTHON, address],
    expectedOutput: POST_THEN_GET,
  },
  {
    name: "Go's net/http",
    program: 'go',
    args: (address, folder) => {
      writeFileSync(join(folder, 'main.go'), GO)
      return ['run', join(folder, 'main.go'), address]
    },
    expectedOutput: POST_THEN_GET,
  },
  {
    name: "Node's fetch",
    program: 'node',
    args: (address) => ['-e', NODE_FETCH, address],
    expectedOutput: POST_THEN_GET,
  },
  {
    name: "Node's http.Agent",
    program: 'node',
    args: (address) => ['-e', NODE_AGENT, address],
    expectedOutput: POST_THEN_GET,
  },
  {
    name: 'ab -k',
    program: 'ab',
    args: (address) => ['-q', '-k', '-n', '2000', '-c', '20', `${address}/a`],
    expectedOutput: /Complete requests:\s+2000\s+Failed requests:\s+0\s+Keep-Alive requests:\s+2000/,
  },
  {
    name: 'h2load --h1',
    program: 'h2load',
    args: (address) => ['--h1', '-n', '2000', '-c', '20', '-m', '4', `${address}/a`],
    expectedOutput: /2000 succeeded, 0 failed/,
  },
]

const listener = listen(handler, { host: '127.0.0.1', port: 0, flags: { host: '--host', port: '--port' } })
const folder = mkdtempSync(join(tmpdir(), 'wire-clients-'))
let failed = 0
for (const { name, program, args, expectedOutput } of CLIENTS) {
  if (Bun.which(program) === null) {
    console.log(`missing  ${name}`)
    continue
  }
  const run = Bun.spawn([program, ...args(`http://127.0.0.1:${listener.port}`, folder)], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ])
  const hasPassed = expectedOutput.test(stdout)
  console.log(`${hasPassed ? 'ran     ' : 'FAILED  '} ${name}`)
  if (!hasPassed) console.log(stdout + stderr)
  failed += hasPassed ? 0 : 1
}
rmSync(folder, { recursive: true })
await listener.stop(1_000)
process.exitCode = failed === 0 ? 0 : 1
