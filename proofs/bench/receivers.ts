import { once } from 'node:events'
import { createServer } from 'node:http'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { listen } from '../../sandbox/local-server.ts'

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
  parentPort?.postMessage(`http://127.0.0.1:${await listen(server)}/webhooks`)
}

if (!isMainThread) await serve()
