import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

/** Listens and never accepts a connection. */
const BLOCKED = `
  const { parentPort } = require('node:worker_threads')
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
  })`

/** Returns a port with a full backlog: a new connection gets neither an accept nor a reset. */
export const blackHole = async (): Promise<{ url: string; close: () => Promise<void> }> => {
  const worker = new Worker(BLOCKED, { eval: true })
  const [port] = await once(worker, 'message')
  const waiting: Socket[] = []
  for (let n = 0; n < 8; n += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    waiting.push(socket)
  }
  const close = async () => {
    for (const socket of waiting) socket.destroy()
    await worker.terminate()
  }
  return { url: `http://127.0.0.1:${port}/hooks`, close }
}
