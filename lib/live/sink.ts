/** Where a stream's bytes go: one client's connection, whichever server took it. */
export interface Sink {
  /** Sends bytes; false when it wants no more until it has drained. What is written all the same is kept and sent. */
  write(bytes: Uint8Array): boolean
  /** Calls back every time it takes more again. */
  onDrain(act: () => void): void
  /** Calls back once the client has gone; at once when it is gone already. */
  onClose(act: () => void): void
  /** Ends the stream after what has been written. */
  end(): void
}
