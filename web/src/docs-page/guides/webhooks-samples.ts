import type { CodeSample } from '../samples/code-tabs.tsx'
import { KEY_PLACEHOLDER } from '../samples/request-samples.ts'
import { AUTHORIZATION, inEach, JSON_BODY } from './guide-samples.ts'

const NODE_IMPORTS = "import { createServer } from 'node:http'\nimport { text } from 'node:stream/consumers'"

const typescript = (code: string): CodeSample => ({
  ...({ id: 'client', title: 'TypeScript client', language: 'typescript' } as const),
  code,
})

/** Makes a webhook: the answer has its secret. */
export function createSamples(base: string): readonly CodeSample[] {
  return inEach(base, {
    curl: `curl '${base}/webhooks' \\
  ${AUTHORIZATION} ${JSON_BODY} \\
  -d '{"url":"https://shop.example/hooks/stock","kinds":["stock.changed","pet.removed"]}'`,
    client: `const webhook = await client.webhooks.create({
  url: 'https://shop.example/hooks/stock',
  kinds: ['stock.changed', 'pet.removed'],
})
console.log(webhook.id, webhook.secret)`,
    python: `webhook, _ = call('POST', '/webhooks', {
    'url': 'https://shop.example/hooks/stock',
    'kinds': ['stock.changed', 'pet.removed'],
})
print(webhook['id'], webhook['secret'])`,
  })
}

/**
 * A whole receiver that keeps a copy of the stock. The port and the secret, or two with a blank in between, come from
 * the environment.
 */
export function receiverSamples(base: string): readonly CodeSample[] {
  return [
    typescript(`${NODE_IMPORTS}
import { PetstoreClient, type ReceivedWebhook, verifyWebhook } from '@petstore/client'

const client = new PetstoreClient({ baseUrl: '${base}', apiKey: '${KEY_PLACEHOLDER}' })
const secrets = (process.env.WEBHOOK_SECRET ?? '').split(' ')
const stock = new Map<bigint, number>() // in your database
const done = new Set<string>() // there too, for a few days

async function take(event: ReceivedWebhook): Promise<void> {
  if (event.type === 'stock.changed') stock.set(event.data.petId, event.data.after)
  if (event.type === 'pet.removed') stock.delete(event.data.petId)
  if (event.type === 'relist') {
    stock.clear()
    for await (const { petId, quantity } of client.inventory.list()) stock.set(petId, quantity)
  }
  console.log(\`\${event.type}: \${[...stock].join(' ')}\`)
}

createServer(async (request, response) => {
  try {
    const event = await verifyWebhook(request.headers, await text(request), secrets)
    if (!done.has(event.id)) await take(event)
    done.add(event.id)
    response.writeHead(204).end()
  } catch (error) {
    // Whatever it was, it is sent again.
    response.writeHead(400).end(String(error))
  }
}).listen(Number(process.env.PORT ?? 9000))`),
    {
      ...({ id: 'python', title: 'Python', language: 'python' } as const),
      code: `import base64, hashlib, hmac, json, os, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = [base64.b64decode(each.removeprefix('whsec_')) for each in os.environ['WEBHOOK_SECRET'].split()]
stock = {}  # in your database
done = set()  # there too, for a few days

def verified(headers, body):
    sent_at = headers.get('webhook-timestamp', '')
    if abs(time.time() - int(sent_at)) > 300:
        raise ValueError('it was not signed in the last 5 minutes')
    signed = f'{headers.get("webhook-id")}.{sent_at}.'.encode() + body
    for secret in SECRETS:
        digest = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest())
        for given in headers.get('webhook-signature', '').encode().split():
            if hmac.compare_digest(b'v1,' + digest, given):
                return headers['webhook-id'], json.loads(body)
    raise ValueError('it has no signature of these secrets')

def take(event):
    kind, data = event['type'], event['data']
    if kind == 'stock.changed':
        stock[data['petId']] = data['after']
    if kind == 'pet.removed':
        stock.pop(data['petId'], None)
    if kind == 'relist':
        request = urllib.request.Request('${base}/inventory')
        request.add_header('Authorization', 'Bearer ${KEY_PLACEHOLDER}')
        with urllib.request.urlopen(request) as answer:
            items = json.load(answer)
        stock.clear()
        stock.update((item['petId'], item['quantity']) for item in items)
    print(kind + ': ' + ' '.join(f'{pet},{quantity}' for pet, quantity in stock.items()), flush=True)

class Receiver(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        try:
            message_id, event = verified(self.headers, body)
            if message_id not in done:
                take(event)
            done.add(message_id)
            self.send_response(204)
        except Exception as problem:
            # Whatever it was, it is sent again.
            print(problem, flush=True)
            self.send_response(400)
            self.send_header('Content-Length', '0')
        self.end_headers()

ThreadingHTTPServer(('127.0.0.1', int(os.environ.get('PORT', '9000'))), Receiver).serve_forever()`,
    },
  ]
}
