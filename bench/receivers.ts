import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Receivers of webhooks, in a thread of their own: their time is not the sender's. */

type Given = {
  count: number
  /** How long each takes to answer, in milliseconds. */
  takes: number
}

export type Receivers = {
  urls: string[]
  /** From now on this one takes connections and never answers. */
  kill: (n: number) => void
  /** Ends what waits for its answer. */
  drop: (n: number) => void
  /** When each event was received first, in milliseconds since the epoch; and all is forgotten. */
  received: () => Promise<Map<string, number>>
  close: () => Promise<unknown>
}

export const openReceivers = async (given: Given): Promise<Receivers> => {
  const worker = new Worker(new URL(import.meta.url), { workerData: given })
  const [urls] = await once(worker, 'message')
  return {
    urls,
    kill: (n) => worker.postMessage({ kill: n }),
    drop: (n) => worker.postMessage({ drop: n }),
    received: async () => {
      worker.postMessage({ tell: true })
      const [received] = await once(worker, 'message')
      return received
    },
    close: () => worker.terminate(),
  }
}

type Asked = { kill?: number; drop?: number; tell?: true }

const serve = async ({ count, takes }: Given): Promise<void> => {
  let received = new Map<string, number>()
  const dead = new Set<number>()
  const servers: Server[] = []
  const open = async (n: number): Promise<string> => {
    const server = createServer((request, response) => {
      request.resume().on('end', async () => {
        if (dead.has(n)) return
        if (takes > 0) await pause(takes)
        const id = String(request.headers['x-svc-event-id'])
        if (!received.has(id)) received.set(id, Date.now())
        response.writeHead(204).end()
      })
    })
    servers[n] = server
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
  }
  const urls = await Promise.all(Array.from({ length: count }, (_, n) => open(n)))
  parentPort?.on('message', ({ kill, drop, tell }: Asked) => {
    if (kill !== undefined) dead.add(kill)
    if (drop !== undefined) {
      servers[drop]?.close()
      servers[drop]?.closeAllConnections()
    }
    if (!tell) return
    parentPort?.postMessage(received)
    received = new Map()
  })
  parentPort?.postMessage(urls)
}

if (!isMainThread) await serve(workerData)
