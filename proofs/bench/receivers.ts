import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

/** A webhook receiver in its own thread, so that its CPU time is not the sender's. */

export const openReceiver = async () => {
  const worker = new Worker(new URL(import.meta.url))
  const [url] = (await once(worker, 'message')) as [string]
  return { url, stop: () => worker.terminate() }
}

const serve = async (): Promise<void> => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  parentPort?.postMessage(`http://127.0.0.1:${port}/webhooks`)
}

if (!isMainThread) await serve()
