import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

/** A webhook receiver in its own thread, so that its CPU time is not the sender's. */

export type Receiver = {
  url: string
  /** Returns the number of events that arrived so far. */
  countEvents: () => Promise<number>
  stop: () => Promise<unknown>
}

export const openReceiver = async (): Promise<Receiver> => {
  const worker = new Worker(new URL(import.meta.url))
  const [url] = await once(worker, 'message')
  const countEvents = async () => {
    worker.postMessage('count')
    const [count] = await once(worker, 'message')
    return count
  }
  return { url, countEvents, stop: () => worker.terminate() }
}

const serve = async (): Promise<void> => {
  const events = new Set<unknown>()
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      events.add(request.headers['x-svc-event-id'])
      response.writeHead(204).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  parentPort?.on('message', () => parentPort?.postMessage(events.size))
  const { port } = server.address() as AddressInfo
  parentPort?.postMessage(`http://127.0.0.1:${port}/webhooks`)
}

if (!isMainThread) await serve()
