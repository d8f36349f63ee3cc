import { beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CERTIFICATE, OTHER_PRIVATE_KEY, PRIVATE_KEY } from '../../../wire/test/test-certificate.ts'
import { VERSION } from '../../src/core/values/version.ts'
import { parsePrometheusText } from '../support/prometheus-text.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startPetstore } from './petstore.ts'
import { runCommand } from './run-command.ts'
import { serve } from './running-petstore.ts'

let cwd: string
beforeEach(() => {
  cwd = temporaryFolder()
})

async function expectRefused(args: readonly string[], ...messages: string[]) {
  const { exitCode, stdout, stderr } = await runCommand(['serve', '--port', '0', ...args], { cwd })
  expect([exitCode, stdout]).toEqual([1, ''])
  for (const message of messages) expect(stderr).toContain(message)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
}

describe('petstore serve: metrics', () => {
  test('are off if the setting says so, and in the demo unless a port is given', async () => {
    const off = await serve(['--metrics-port', 'off'], { cwd })
    const demo = await serve(['--demo'], { cwd, env: { METRICS_PORT: '' } })
    for (const { output, stop } of [off, demo]) {
      expect(output()).not.toContain('/metrics')
      await stop()
    }
  })

  test('on a used port: one line that names the flag, and exit code 1', async () => {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const port = String(taken.port)
    await expectRefused(['--metrics-port', port], `port ${port} on 127.0.0.1 is in use`, '--metrics-port')
    await taken.stop()
  })
})

describe('petstore serve: https', () => {
  const write = (name: string, text: string) => {
    const path = join(cwd, name)
    writeFileSync(path, text)
    return path
  }

  test('is served with a certificate and its key, and the log says so', async () => {
    const [cert, key] = [write('cert.pem', CERTIFICATE), write('key.pem', PRIVATE_KEY)]
    const { address, stop } = await serve(['--demo', '--tls-cert', cert, '--tls-key', key], { cwd })
    expect(address).toStartWith('https://127.0.0.1:')
    const answer = await fetch(`${address}/v1/inventory`, {
      headers: { Authorization: 'Bearer pst_demo_pro' },
      tls: { ca: CERTIFICATE },
    })
    expect([answer.status, ((await answer.json()) as unknown[]).length]).toEqual([200, 25])
    expect(answer.headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
    await expect(fetch(address.replace('https', 'http'))).rejects.toThrow()
    expect(await stop()).toBe(0)
  })

  test('with missing, invalid or mismatched files: one line and exit code 1', async () => {
    const [cert, key] = [write('cert.pem', CERTIFICATE), write('key.pem', PRIVATE_KEY)]
    const nonsense = write('nonsense.pem', 'nonsense')
    const other = write('other.pem', OTHER_PRIVATE_KEY)
    await expectRefused(['--tls-cert', 'none.pem', '--tls-key', key], 'cannot read none.pem', '--tls-cert')
    await expectRefused(['--tls-cert', cert, '--tls-key', cwd], `cannot read ${cwd}`, '--tls-key')
    await expectRefused(['--tls-cert', nonsense, '--tls-key', key], 'no certificate', '--tls-cert')
    await expectRefused(['--tls-cert', cert, '--tls-key', nonsense], 'no private key', '--tls-key')
    await expectRefused(['--tls-cert', cert, '--tls-key', other], 'does not belong to the certificate')
  })
})

describe('petstore serve: logs', () => {
  test('are JSON on every line from start to stop; SIGHUP, which a closed terminal sends, changes nothing', async () => {
    const env = { LOG_REQUESTS: 'all' }
    const args = ['--demo', '--metrics-port', '0']
    const { address, call, output, program, stop } = await serve(args, { cwd, env })
    const metrics = /http:[^"]+\/metrics/.exec(output())?.[0] ?? ''
    const families = parsePrometheusText(await (await fetch(metrics)).text())
    expect(families.get('petstore_build_info')?.samples).toHaveLength(1)
    program.kill('SIGHUP')
    await call('/inventory', 'pst_demo_free')
    expect(await stop()).toBe(0)
    const lines = output()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      { level: 'info', message: 'listening', address, metrics, version: VERSION },
      { level: 'info', message: 'request', operation: 'listInventory', keyId: 'key_demo_free', status: 200 },
      { level: 'info', message: 'stopping' },
      { level: 'info', message: 'stopped' },
    ])
    expect(output()).not.toContain('pst_demo_free')
  })

  test('it keeps serving if the reader of its log goes away', async () => {
    const program = startPetstore(['serve', '--demo', '--port', '0', '--log-requests', 'all'], { cwd })
    let output = ''
    for await (const chunk of program.stdout) {
      output += new TextDecoder().decode(chunk)
      if (output.includes('"listening"')) break
    }
    const address = /http:[^"]+(?=",)/.exec(output)?.[0] ?? ''
    for (let sent = 0; sent < 3; sent++) {
      expect((await fetch(`${address}/healthz`)).status).toBe(200)
      await Bun.sleep(20)
    }
    program.kill('SIGTERM')
    expect([await program.exited, await new Response(program.stderr).text()]).toEqual([0, ''])
  })
})
