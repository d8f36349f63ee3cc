import { join } from 'node:path'
import { freePort } from '../../server/test/support/free-port.ts'
import { PEER_SECRETS, writeBody } from '../dataset.ts'
import { startServer } from '../processes.ts'
import { LIST_PATH, type Target } from '../target.ts'

export const nginx: Target = {
  name: 'nginx',
  label: 'nginx, a static file',
  kind: 'ceiling',
  database: 'sqlite',
  loads: ['list'],
  start: async (dataset, { cores }) => {
    const { folder } = dataset
    const port = freePort()
    const config = join(folder, 'nginx.conf')
    await Bun.write(config, nginxConfig(port, folder, await writeBody(dataset)))
    const command = ['nginx', '-e', join(folder, 'nginx-error.log'), '-p', folder, '-c', config]
    const server = await startServer('nginx', command, { port, folder, cores, readyPath: '/' })
    return { instances: [server], secrets: PEER_SECRETS }
  },
}

/** One process, one static file and no log. */
function nginxConfig(port: number, folder: string, file: string): string {
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx-error.log;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  open_file_cache max=16;
  client_body_temp_path ${folder}/nginx-body;
  proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi;
  uwsgi_temp_path ${folder}/nginx-uwsgi;
  scgi_temp_path ${folder}/nginx-scgi;
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location = ${LIST_PATH} {
      default_type application/json;
      alias ${file};
    }
  }
}
`
}
