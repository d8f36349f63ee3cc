import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPassedSocket } from '../../src/cli/commands/serve.ts'
import { startPetstore } from './petstore.ts'

const cwd = mkdtempSync(join(tmpdir(), 'petstore-socket-'))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

/** Acts like a systemd socket unit: listens, passes the socket on, and restarts the service when it ends. */
const HOLDER = `
use POSIX; use Socket; $| = 1; $^F = 9;
socket(my $s, PF_INET, SOCK_STREAM, 0) or die; bind($s, sockaddr_in(0, INADDR_LOOPBACK)) or die; listen($s, 1024) or die;
my ($port) = sockaddr_in(getsockname($s)); POSIX::dup2(fileno($s), 3) or die;
print "port $port\\n";
for (1, 2) {
  my $child = fork // die;
  if (!$child) { $ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = 1; exec @ARGV or die }
  print "started $child\\n"; waitpid $child, 0; print "ended $?\\n";
}`

test('a restart with socket activation refuses no connection', async () => {
  const args = ['serve', '--demo', '--port', '80']
  const program = startPetstore(args, { cwd, through: ['perl', '-e', HOLDER] })
  let output = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of program.stdout) output += decoder.decode(chunk, { stream: true })
  })()
  const told = async (pattern: RegExp) => {
    for (;;) {
      const [, text] = pattern.exec(output) ?? []
      if (text !== undefined) return text
      await Bun.sleep(5)
    }
  }
  const port = await told(/port (\d+)\n/)
  const first = Number(await told(/started (\d+)\n/))

  // Each over a new connection, from before the end of the first process until after the start of the second.
  const statuses: number[] = []
  let isOver = false
  const call = async () => {
    while (!isOver) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/inventory`, {
        headers: { Authorization: 'Bearer pst_demo_enterprise', Connection: 'close' },
      })
      statuses.push(answer.status)
      await answer.bytes()
    }
  }
  const calling = [call(), call(), call()]
  await told(/("listening")/)
  const before = statuses.length
  process.kill(first, 'SIGTERM')
  expect(await told(/ended (\d+)\n/)).toBe('0')
  const second = Number(await told(/started \d+\n.*started (\d+)\n/s))
  await told(/"listening".*("listening")/s)
  const between = statuses.length
  while (statuses.length < between + 20) await Bun.sleep(5)
  isOver = true
  await Promise.all(calling)
  process.kill(second, 'SIGTERM')
  await reading
  expect(await program.exited).toBe(0)
  expect(statuses.length).toBeGreaterThan(before + 20)
  expect(new Set(statuses)).toEqual(new Set([200]))
}, 120_000)

test('a socket counts as passed only if it is for this process and is a socket', () => {
  const LISTEN_PID = String(process.pid)
  expect(findPassedSocket({})).toBeUndefined()
  expect(findPassedSocket({ LISTEN_PID: '1', LISTEN_FDS: '1' })).toBeUndefined()
  expect(findPassedSocket({ LISTEN_PID, LISTEN_FDS: '1' })).toBe(3)
  expect(() => findPassedSocket({ LISTEN_PID, LISTEN_FDS: '2' })).toThrow(/keep a single ListenStream/)
})
