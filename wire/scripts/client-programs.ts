// Each program sends POST /a with the body "pets", in a different form, and then GET /b over the same connection.

/** Sends the body in chunks. */
export const PYTHON = `
import http.client, sys, urllib.parse
connection = http.client.HTTPConnection(urllib.parse.urlparse(sys.argv[1]).netloc)
connection.request('POST', '/a', iter([b'pe', b'ts']), {'Transfer-Encoding': 'chunked'}, encode_chunked=True)
print(connection.getresponse().read().decode())
socket = connection.sock
connection.request('GET', '/b')
print(connection.getresponse().read().decode())
assert connection.sock is socket, 'the connection was not reused'
`

/** Waits for 100 Continue before it sends the body, which has a trailer. */
export const GO = `
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"time"
)

func send(request *http.Request) {
	reused := false
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
	client := &http.Client{Transport: transport}
	response, err := client.Do(request.WithContext(httptrace.WithClientTrace(request.Context(), trace)))
	if err != nil {
		panic(err)
	}
	body, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if request.Method == "GET" && !reused {
		panic("the connection was not reused")
	}
	fmt.Println(string(body))
}

var transport = &http.Transport{ExpectContinueTimeout: 5 * time.Second}

func main() {
	post, _ := http.NewRequest("POST", os.Args[1]+"/a", io.NopCloser(strings.NewReader("pets")))
	post.Header.Set("Expect", "100-continue")
	post.Trailer = http.Header{"X-Sum": []string{"4"}}
	send(post)
	get, _ := http.NewRequest("GET", os.Args[1]+"/b", nil)
	send(get)
}
`

export const NODE_FETCH = `
const address = process.argv[1]
const main = async () => {
  console.log(await (await fetch(address + '/a', { method: 'POST', body: 'pets' })).text())
  console.log(await (await fetch(address + '/b')).text())
}
main()
`

/** Sends the body in chunks, with a trailer. */
export const NODE_AGENT = `
const http = require('node:http')
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
const send = (path, options, write) => new Promise((resolve, reject) => {
  const request = http.request(process.argv[1] + path, { agent, ...options }, (response) => {
    let text = ''
    response.on('data', (piece) => { text += piece })
    response.on('end', () => resolve([text, request.reusedSocket]))
  })
  request.on('error', reject)
  write(request)
  request.end()
})
const main = async () => {
  const headers = { 'Transfer-Encoding': 'chunked', Trailer: 'X-Sum' }
  const [posted] = await send('/a', { method: 'POST', headers }, (request) => {
    request.write('pe')
    request.write('ts')
    request.addTrailers({ 'X-Sum': '4' })
  })
  const [got, isReused] = await send('/b', { method: 'GET' }, () => {})
  if (!isReused) throw new Error('the connection was not reused')
  console.log(posted + got)
  agent.destroy()
}
main()
`
