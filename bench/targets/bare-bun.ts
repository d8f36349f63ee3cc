import { readFileSync } from 'node:fs'

/** Bun.serve with prepared bytes: no key, no limit, no route. */
const [path = '', port = '0'] = process.argv.slice(2)
const bytes = readFileSync(path)
const headers = { 'Content-Type': 'application/json' }

Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: () => new Response(bytes, { headers }) })
