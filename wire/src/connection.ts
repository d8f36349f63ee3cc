import type { Socket } from 'bun'
import type { AnswerWriter } from './answer-writer.ts'
import { type PipelineParts, RequestPipeline } from './request-pipeline.ts'
import { RequestProblem } from './request-problem.ts'
import { ReaderPace } from './slow-readers.ts'

/** What the other side has to do next. */
type PeerTask = 'handshake' | 'send_first_byte' | 'begin_request' | 'finish_request' | 'read_answer' | 'close'

/** What all connections of a listener share. */
export interface ConnectionParts extends PipelineParts {
  /** How long the other side may take for each. */
  readonly seconds: Readonly<Record<PeerTask, number>>
  /** In whole seconds, from anywhere. */
  readonly now: () => number
}

/** The life of one socket, from its opening to its end. What goes over it is the matter of its pipeline. */
export class Connection {
  /** Of a closed socket it cannot be asked any more. */
  readonly address: string
  readonly pace = new ReaderPace()
  readonly #socket: Socket<Connection>
  readonly #parts: ConnectionParts
  readonly #pipeline: RequestPipeline
  readonly #refusal: RequestProblem | undefined
  /** Whether bytes can go both ways: with TLS, once that is agreed on. */
  #isOpen = false
  /** Whether the other side sends nothing more. */
  #peerEnded = false
  /** Whether we send nothing more. */
  #isClosing = false
  #isPaused = false
  #hasReceivedBytes = false
  /** Since when the other side has been keeping us waiting, if it has. */
  #waitingSince: number

  /** With a refusal, that is all it gets. */
  constructor(socket: Socket<Connection>, parts: ConnectionParts, refusal: RequestProblem | undefined) {
    this.#socket = socket
    this.#parts = parts
    this.#refusal = refusal
    this.address = socket.remoteAddress
    this.#waitingSince = parts.now()
    this.#pipeline = new RequestPipeline(socket, this, parts)
  }

  get writer(): AnswerWriter {
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

  /** Whether it may be closed to make room for another one: it is idle and has never carried a request of a known client. */
  get isExpendable(): boolean {
    const isIdle = !this.#isOpen || this.#pipeline.isIdle
    return isIdle && !this.#isClosing && !this.#pipeline.hasKnownClient
  }

  onData(bytes: Buffer): void {
    this.#hasReceivedBytes = true
    if (!this.#isClosing) this.#pipeline.add(bytes)
  }

  /** The other side sends nothing more. It may still read, unless it follows a stream: then it is gone. */
  onEnd(): void {
    this.#peerEnded = true
    if (this.#isClosing || this.writer.isLive) this.#socket.end()
    else this.#pipeline.endInput()
  }

  /** The network takes more again. */
  onDrain(): void {
    const before = this.writer.takenBytes
    this.#pipeline.flush()
    if (this.writer.takenBytes > before) this.restartTimeout()
  }

  onClosed(): void {
    this.#isClosing = true
    this.#pipeline.abort()
  }

  /** Once a second: gives up where the other side has kept us waiting for too long. */
  onTick(): void {
    // Not waiting for `onDrain`: the system calls that when there is plenty of room, and a slow reader makes little.
    if (this.writer.unsentBytes > 0) this.onDrain()
    const now = this.#parts.now()
    const task = this.#peerTask()
    this.pace.measure(this.writer)
    // A reset of a socket that is paused is not told otherwise.
    if (this.writer.isBroken || this.pace.isTooSlow) this.terminate()
    else if (task !== undefined && now - this.#waitingSince > this.#parts.seconds[task]) this.#timeOut(task)
  }

  /** Closes once what is under way, if anything is, is answered. */
  closeWhenAnswered(): void {
    if (this.#pipeline.isIdle) this.close()
    else this.#pipeline.answerNoMore()
  }

  /** The other side closes as well, then the socket is gone: an end at once could overtake the answer (RFC 9112, 9.6). */
  close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.restartTimeout()
    this.pause(false)
    if (this.#peerEnded) this.#socket.end()
    else this.#socket.shutdown()
  }

  /** Drops what is unsent. */
  terminate(): void {
    this.#socket.terminate()
  }

  /** Whether reading waits. */
  pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#socket.pause()
    else this.#socket.resume()
  }

  /** The other side has done something, or has something to do from now on. */
  restartTimeout(): void {
    this.#waitingSince = this.#parts.now()
  }

  /** `undefined` where it is our turn. */
  #peerTask(): PeerTask | undefined {
    if (this.#isClosing) return 'close'
    if (this.writer.unsentBytes > 0) return 'read_answer'
    if (!this.#isOpen) return 'handshake'
    if (this.#pipeline.isIdle) return this.#hasReceivedBytes ? 'begin_request' : 'send_first_byte'
    return this.#pipeline.awaitsInput ? 'finish_request' : undefined
  }

  #timeOut(task: PeerTask): void {
    switch (task) {
      case 'handshake':
      case 'read_answer':
        this.terminate()
        break
      case 'send_first_byte':
      case 'begin_request':
        this.close()
        break
      case 'finish_request':
        this.#pipeline.breakOff(
          new RequestProblem('timeout', `request not received within ${this.#parts.seconds[task]} s`),
        )
        break
      case 'close':
        // What was written goes out all the same: the system sees to it.
        this.#socket.end()
    }
  }
}
