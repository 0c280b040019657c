import type { Socket } from 'node:net'

/** What one connection may bring before the event loop goes on to the others, to timers and to requests. */
const [maxFrames, maxBytes] = [256, 64 * 1024]
/** Read at once, at first and at most. All frames in it are taken: at six bytes each, no more than 1,365 over the portion. */
const [firstBytes, mostBytes] = [2048, 8192]

/**
 * Reads a socket in portions. `ws` takes all frames of a chunk in one go, and a chunk of 64 KiB may hold ten thousand, so
 * the chunk is handed to it in slices: each `read` emits `data`, and `ws` listens to that.
 */
export class PortionReader {
  /** It is not read for the time being. */
  isHeld = true
  readonly #socket: Socket
  /** Asked after each slice, as one frame may use up what its sender has: read no more until this resolves. */
  readonly #whenWritable: () => Promise<void> | undefined
  #frames = 0
  #isDue = false

  /** Reads nothing before `resume`. */
  constructor(socket: Socket, whenWritable: () => Promise<void> | undefined) {
    this.#socket = socket
    this.#whenWritable = whenWritable
    socket.on('readable', () => {
      if (!this.isHeld && !this.#isDue) this.#read()
    })
  }

  /** Tells it that a slice had one more frame. */
  countFrame(): void {
    this.#frames++
  }

  resume(): void {
    this.isHeld = false
    this.#read()
  }

  readonly #read = (): void => {
    const socket = this.#socket
    this.#isDue = false
    this.#frames = 0
    let [bytes, wanted] = [0, firstBytes]
    let whenWritable: Promise<void> | undefined
    while (
      whenWritable === undefined &&
      this.#frames < maxFrames &&
      bytes < maxBytes &&
      socket.readableLength > 0
    ) {
      const slice: Buffer | null = socket.read(Math.min(wanted, socket.readableLength))
      if (slice === null) return
      bytes += slice.length
      // As much as the frames that are left would take, were they like those before.
      const each = bytes / Math.max(1, this.#frames)
      wanted = Math.min(mostBytes, Math.max(firstBytes, Math.floor(each * (maxFrames - this.#frames))))
      whenWritable = this.#whenWritable()
    }
    if (whenWritable !== undefined) {
      this.isHeld = true
      void whenWritable.then(() => this.resume())
    } else if (socket.readableLength > 0) {
      this.#isDue = true
      setImmediate(this.#read)
    } else socket.read(0) // So that its end is noticed.
  }
}
