/** One process, one static file, nothing written: as fast as nginx serves these bytes. */
export function nginxConfig({ port, folder, file }: { port: number; folder: string; file: string }): string {
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
    location = /v1/inventory {
      default_type application/json;
      alias ${file};
    }
  }
}
`
}
