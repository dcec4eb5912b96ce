import { log } from '#lib/ops/log'
import { readEnvironment } from './environment'
import { startWorker, type Worker } from './worker'

// Whoever supervises us kills after five seconds.
const STOP_MS = 4500

try {
  const worker = await startWorker(readEnvironment(process.env), log)
  stopWhenAsked(worker)
} catch (error) {
  process.stderr.write(`The worker cannot start. ${(error as Error).message}\n`)
  process.exit(1)
}

/** Stops on SIGTERM and SIGINT, and when the parent that started us over a channel is gone. */
function stopWhenAsked(worker: Worker): void {
  let isStopping = false
  const stop = async () => {
    if (isStopping) return
    isStopping = true
    setTimeout(() => process.exit(1), STOP_MS).unref()
    await worker.stop()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('disconnect', stop)
}
