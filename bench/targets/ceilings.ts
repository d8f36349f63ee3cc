import { join } from 'node:path'
import { nginxConfig } from '../ceilings/nginx-config.ts'
import { PEER_SECRETS, writeBody } from '../dataset.ts'
import { freePort, startServer } from '../processes.ts'
import type { Target } from '../target.ts'

const ceiling = {
  kind: 'ceiling',
  section: 'embedded',
  listPath: '/v1/inventory',
  listEquals: 'bytes',
  takesUpdates: false,
  takesAdjustments: false,
  takesOrders: false,
  takesSearches: false,
  checksKeys: false,
} as const

export const nginx: Target = {
  ...ceiling,
  name: 'nginx',
  label: 'nginx, a static file',
  start: async (dataset) => {
    const { folder } = dataset
    const port = await freePort()
    const config = join(folder, 'nginx.conf')
    await Bun.write(config, nginxConfig({ port, folder, file: await writeBody(dataset) }))
    const errors = join(folder, 'nginx-error.log')
    const server = await startServer('nginx', ['nginx', '-e', errors, '-p', folder, '-c', config], {
      port,
      folder,
      readyPath: '/',
    })
    return { ...server, secrets: PEER_SECRETS }
  },
}

export const bareBun: Target = {
  ...ceiling,
  name: 'bare-bun',
  label: 'bare Bun.serve, ready bytes',
  start: async (dataset) => {
    const port = await freePort()
    const program = join(import.meta.dir, '..', 'ceilings', 'bare-bun.ts')
    const command = [process.execPath, program, await writeBody(dataset), String(port)]
    const server = await startServer('bare-bun', command, { port, folder: dataset.folder, readyPath: '/' })
    return { ...server, secrets: PEER_SECRETS }
  },
}
