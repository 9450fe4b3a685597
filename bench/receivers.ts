import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Webhook receivers in their own thread, so that their CPU time is not the sender's. */

type ReceiverOptions = {
  count: number
  /** Milliseconds until a receiver responds. */
  latency: number
}

export type Receivers = {
  urls: string[]
  /** Makes a receiver accept connections without responding. */
  kill: (index: number) => void
  /** Closes a receiver and its connections. */
  close: (index: number) => void
  /** Returns when each event first arrived, in milliseconds since the epoch, and resets the list. */
  received: () => Promise<Map<string, number>>
  stop: () => Promise<unknown>
}

type Command = { kill?: number; close?: number; report?: true }

export const openReceivers = async (options: ReceiverOptions): Promise<Receivers> => {
  const worker = new Worker(new URL(import.meta.url), { workerData: options })
  const [urls] = await once(worker, 'message')
  const post = (command: Command) => worker.postMessage(command)
  return {
    urls,
    kill: (kill) => post({ kill }),
    close: (close) => post({ close }),
    received: async () => {
      post({ report: true })
      const [received] = await once(worker, 'message')
      return received
    },
    stop: () => worker.terminate(),
  }
}

const serve = async ({ count, latency }: ReceiverOptions): Promise<void> => {
  let received = new Map<string, number>()
  const dead = new Set<number>()
  const servers: Server[] = []
  const open = async (index: number): Promise<string> => {
    const server = createServer((request, response) => {
      request.resume().on('end', async () => {
        if (dead.has(index)) return
        if (latency > 0) await pause(latency)
        const id = String(request.headers['x-svc-event-id'])
        if (!received.has(id)) received.set(id, Date.now())
        response.writeHead(204).end()
      })
    })
    servers[index] = server
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
  }
  const urls = await Promise.all(Array.from({ length: count }, (_, index) => open(index)))
  parentPort?.on('message', ({ kill, close, report }: Command) => {
    if (kill !== undefined) dead.add(kill)
    if (close !== undefined) {
      servers[close]?.close()
      servers[close]?.closeAllConnections()
    }
    if (!report) return
    parentPort?.postMessage(received)
    received = new Map()
  })
  parentPort?.postMessage(urls)
}

if (!isMainThread) await serve(workerData)
