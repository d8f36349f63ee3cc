import type { Socket } from 'bun'
import {
  type Handler,
  IncomingRequest,
  type MaybePromise,
  type PendingRequest,
  RefusedRequest,
  type RequestHead,
  RequestInput,
  RequestProblem,
} from './request.ts'
import { type HttpResponse, ResponseWriter } from './response.ts'
import type { SendTurns } from './send-turns.ts'

/** The next action that the connection needs from the client. */
type ClientTask =
  | 'handshake'
  | 'send_first_byte'
  | 'begin_request'
  | 'finish_request'
  | 'read_response'
  | 'close'

/** The part of a listener that its connections share. */
export interface ListenerState {
  readonly handler: Handler
  readonly turns: SendTurns
  /** How long the client may take for each task. */
  readonly timeoutSeconds: Readonly<Record<ClientTask, number>>
  /** The `Keep-Alive` header, which announces how long a connection stays open between requests. */
  readonly keepAliveLine: string
  /** The clock of the timeouts: the whole seconds since the listener was started. */
  seconds: number
  /** The number of responses so far. */
  responses: number
  /** If the listener is stopping, each response is the last response of its connection. */
  isStopping: boolean
  /** Called when the network has accepted only a part of a response. */
  readonly onUnsent: () => void
}

/** A client that closes its sending side this long after its last bytes has given up waiting for the response. */
const PATIENCE_MS = 500

/** A socket from its opening to its end, with its timeouts. Its pipeline handles the requests. */
export class Connection {
  /** Copied, because a closed socket no longer has an address. Empty if the client had already reset the connection. */
  readonly address: string
  /** The number of the latest response among all responses of the listener. */
  latestResponse = 0
  readonly #socket: Socket<Connection>
  readonly #listener: ListenerState
  readonly #pipeline: RequestPipeline
  readonly #refusal: RequestProblem | undefined
  /** With TLS, the connection is open when the handshake is complete. */
  #isOpen = false
  #hasClientEnded = false
  /** Whether the client no longer waits for responses. */
  hasClientLeft = false
  #isClosing = false
  #isPaused = false
  #hasReceivedBytes = false
  /** The second in which the current wait for the client began. */
  #waitingSince: number

  /** If there is a refusal, the connection responds with it and closes. */
  constructor(
    socket: Socket<Connection>,
    address: string,
    listener: ListenerState,
    refusal: RequestProblem | undefined,
  ) {
    this.#socket = socket
    this.#listener = listener
    this.#refusal = refusal
    this.address = address
    this.#waitingSince = listener.seconds
    this.#pipeline = new RequestPipeline(socket, this, listener)
  }

  get writer(): ResponseWriter {
    return this.#pipeline.writer
  }

  get isBusy(): boolean {
    return this.#pipeline.isBusy
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  onOpen(): void {
    this.#isOpen = true
    this.restartTimeout()
    if (this.#refusal !== undefined) this.#pipeline.refuse(this.#refusal)
  }

  /** Whether the connection may be closed to make room: it is idle and has never served an authenticated client. */
  get isExpendable(): boolean {
    const isIdle = !this.#isOpen || this.#pipeline.isIdle
    return isIdle && !this.#isClosing && !this.#pipeline.hasAuthenticatedClient
  }

  onData(bytes: Buffer): void {
    this.#hasReceivedBytes = true
    if (!this.#isClosing) this.#pipeline.add(bytes)
  }

  /**
   * The client has closed its sending side. It may still read a normal response. During a live body, such as an event
   * stream, this counts as a disconnect.
   */
  onEnd(): void {
    this.#hasClientEnded = true
    // A client that wants only to say that it has sent everything does so with its last bytes.
    this.hasClientLeft = performance.now() - this.#pipeline.receivedAt >= PATIENCE_MS
    if (this.#isClosing || this.writer.isLive) this.#socket.end()
    else this.#pipeline.endInput()
  }

  /** The network accepts bytes again. */
  onDrain(): void {
    const sentBefore = this.writer.sentBytes
    this.#pipeline.flush()
    if (this.writer.sentBytes > sentBefore) this.restartTimeout()
  }

  onClosed(): void {
    this.hasClientLeft = true
    this.#isClosing = true
    this.#pipeline.abort()
  }

  /** Called once a second. Enforces the timeouts. */
  onTick(): void {
    // The system reports a drain only when much of its buffer is free, which may never happen with a slow client.
    if (this.writer.unsentBytes > 0) this.onDrain()
    const { seconds, timeoutSeconds } = this.#listener
    const task = this.#clientTask()
    // A failed write is the only sign that a paused socket was reset.
    if (this.writer.isBroken) this.terminate()
    else if (task !== undefined && seconds - this.#waitingSince > timeoutSeconds[task]) {
      this.#timeOut(task)
    }
  }

  /** Closes an idle connection. Otherwise marks the pending request as its last one. */
  closeWhenAnswered(): void {
    if (this.#pipeline.isIdle) this.close()
    else this.#pipeline.closeAfterPending()
  }

  /**
   * Closes the sending side and waits for the client to close as well: the client could lose the response if the socket
   * ended at once (RFC 9112, 9.6).
   */
  close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.restartTimeout()
    this.setPaused(false)
    if (this.#hasClientEnded) this.#socket.end()
    else this.#socket.shutdown()
  }

  /** Closes the socket at once. Unsent bytes are lost. */
  terminate(): void {
    this.#socket.terminate()
  }

  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#socket.pause()
    else this.#socket.resume()
  }

  restartTimeout(): void {
    this.#waitingSince = this.#listener.seconds
  }

  /** Returns `undefined` if the client waits for the response. */
  #clientTask(): ClientTask | undefined {
    if (this.#isClosing) return 'close'
    if (this.writer.unsentBytes > 0) return 'read_response'
    if (!this.#isOpen) return 'handshake'
    if (this.#pipeline.isIdle) return this.#hasReceivedBytes ? 'begin_request' : 'send_first_byte'
    return this.#pipeline.awaitsInput ? 'finish_request' : undefined
  }

  #timeOut(task: ClientTask): void {
    switch (task) {
      case 'handshake':
      case 'read_response':
        this.terminate()
        break
      case 'send_first_byte':
      case 'begin_request':
        this.close()
        break
      case 'finish_request':
        this.#pipeline.stopReceiving(
          new RequestProblem(
            'timeout',
            `request not received within ${this.#listener.timeoutSeconds[task]} s`,
          ),
        )
        break
      case 'close':
        // The system still sends the bytes that it has accepted.
        this.#socket.end()
    }
  }
}

/** Pauses the socket while pipelined requests have more unread bytes than this. */
const MAX_UNREAD_BYTES = 64 * 1024

/** Handles the requests of a connection one at a time, in order. */
class RequestPipeline {
  readonly writer: ResponseWriter
  readonly #connection: Connection
  readonly #listener: ListenerState
  readonly #input = new RequestInput()
  #pending: PendingRequest | undefined
  /** Whether later bytes are ignored, because it is unknown where the next request starts. */
  #isInputIgnored = false
  #hasInputEnded = false
  /** Whether an authenticated request was answered. */
  hasAuthenticatedClient = false
  /** The time at which bytes last arrived. */
  receivedAt = 0
  #isProcessing = false

  constructor(socket: Socket<Connection>, connection: Connection, listener: ListenerState) {
    this.#connection = connection
    this.#listener = listener
    this.writer = new ResponseWriter(socket, listener.keepAliveLine, listener.turns, {
      onLiveWrite: () => connection.restartTimeout(),
      onDone: () => this.#process(),
      onAbort: () => connection.terminate(),
      onTurn: () => this.#attempt(() => this.writer.takeTurn()),
    })
  }

  get isBusy(): boolean {
    return this.#pending !== undefined && !this.writer.isDone
  }

  /** Whether no request is pending and no part of the next request has arrived. */
  get isIdle(): boolean {
    return this.#pending === undefined && this.#input.isBlank
  }

  /** Whether a part of a request has arrived, but not all of it. */
  get awaitsInput(): boolean {
    if (this.#pending === undefined) return !this.#input.isBlank
    return !this.#isInputIgnored && !this.#pending.requestBody.isComplete && !this.#pending.awaitsContinue
  }

  add(bytes: Buffer): void {
    if (this.#isInputIgnored) return
    this.receivedAt = performance.now()
    if (this.isIdle) this.#connection.restartTimeout()
    this.#input.add(bytes)
    this.#process()
  }

  /** Called when the client has closed its sending side. Requests that have arrived are still answered. */
  endInput(): void {
    this.#hasInputEnded = true
    if (this.#pending?.requestBody.isComplete === false) {
      this.#pending.isLast = true
      this.#pending.requestBody.abort()
    }
    this.#process()
  }

  flush(): void {
    this.#attempt(() => this.writer.flush())
  }

  /** Responds with the problem although there is no complete request, and ignores all later input. */
  refuse(problem: RequestProblem): void {
    this.#ignoreInput()
    const refused = new RefusedRequest()
    this.#pending = refused
    this.writer.begin()
    this.#attempt(() =>
      this.#sendWhenReady(refused, this.#listener.handler.refuse(problem, this.#connection.address)),
    )
    this.#process()
  }

  /** Gives up on the rest of a request: reading its body fails with the problem, and all later input is ignored. */
  stopReceiving(problem: RequestProblem): void {
    if (this.#pending === undefined) {
      this.refuse(problem)
      return
    }
    this.#ignoreInput()
    this.#pending.isLast = true
    this.#pending.requestBody.abort(problem)
    this.#process()
  }

  /** Closes the connection after the pending request. */
  closeAfterPending(): void {
    if (this.#pending !== undefined) this.#pending.isLast = true
  }

  /** Called when the connection is closed. */
  abort(): void {
    this.#pending?.requestBody.abort()
    this.writer.close()
  }

  resumeBody(): void {
    if (this.#pending !== undefined) this.#readBody(this.#pending)
    this.#connection.setPaused(this.#input.length > MAX_UNREAD_BYTES)
  }

  sendContinue(): void {
    this.#connection.restartTimeout()
    this.writer.writeContinue()
  }

  /** Handles a bug. It is unknown which bytes were sent, so the connection cannot be used any more. */
  readonly #fail = (error: unknown): void => {
    console.error('wire: answering a request failed', error)
    this.#connection.terminate()
  }

  #attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Handles as many requests as possible with the bytes that have arrived. */
  #process(): void {
    if (!this.#isProcessing) {
      this.#isProcessing = true
      this.#attempt(() => this.#processRequests())
      this.#isProcessing = false
    }
    this.#connection.setPaused(this.#input.length > MAX_UNREAD_BYTES)
  }

  #processRequests(): void {
    while (!this.#connection.isClosing) {
      if (this.#pending !== undefined) {
        if (!this.#finish(this.#pending)) return
      } else if (!this.#begin()) {
        if (this.#hasInputEnded) this.#close()
        return
      }
    }
  }

  /** Returns whether a request was started or refused. */
  #begin(): boolean {
    try {
      const head = this.#input.readHead()
      if (head === undefined) return false
      this.#answer(head)
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      this.refuse(error)
    }
    return true
  }

  #answer(head: RequestHead): void {
    const request = new IncomingRequest(head, this.#connection, this)
    this.#pending = request
    this.writer.begin()
    this.#readBody(request)
    this.#sendWhenReady(request, this.#listener.handler.answer(request))
  }

  #sendWhenReady(pending: PendingRequest, response: MaybePromise<HttpResponse>): void {
    if (response instanceof Promise) {
      response.then((ready) => this.#attempt(() => this.#sendLate(pending, ready)), this.#fail)
    } else this.#sendInTurn(pending, response)
  }

  #sendLate(pending: PendingRequest, response: HttpResponse): void {
    this.#sendInTurn(pending, response)
    this.#process()
  }

  #sendInTurn(pending: PendingRequest, response: HttpResponse): void {
    pending.requestBody.discard()
    const { turns } = this.#listener
    if (turns.isFree) this.#send(pending, response)
    else {
      turns.wait(() => {
        this.#attempt(() => this.#send(pending, response))
        this.#process()
      })
    }
  }

  #send(pending: PendingRequest, response: HttpResponse): void {
    if (this.#listener.isStopping || pending.awaitsContinue) pending.isLast = true
    if (response.isClientAuthenticated) this.hasAuthenticatedClient = true
    this.#connection.restartTimeout()
    this.#listener.turns.spendOnResponse()
    this.#connection.latestResponse = ++this.#listener.responses
    this.writer.write(response, pending)
    if (!this.writer.isDone) this.#listener.onUnsent()
  }

  #readBody({ requestBody }: PendingRequest): void {
    if (requestBody.isComplete || this.#input.length === 0) return
    try {
      this.#input.readInto(requestBody)
      if (requestBody.hasProgressed()) this.#connection.restartTimeout()
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      this.stopReceiving(error)
    }
  }

  #ignoreInput(): void {
    this.#isInputIgnored = true
    this.#input.clear()
  }

  /** Returns whether the request is received and answered, so that the next request can start. */
  #finish(pending: PendingRequest): boolean {
    this.#readBody(pending)
    if (!this.writer.isDone) return false
    if (pending.isLast) this.#close()
    if (pending.isLast || !pending.requestBody.isComplete) return false
    this.#pending = undefined
    this.#connection.restartTimeout()
    return true
  }

  #close(): void {
    this.#ignoreInput()
    this.#connection.close()
  }
}
