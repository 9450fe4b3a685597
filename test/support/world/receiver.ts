import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Workers } from './workers.ts'

/** A provider's receiver on this machine, which answers as the test tells it. */

export type Post = {
  /** By the clock of the test, in epoch milliseconds. */
  at: number
  headers: IncomingHttpHeaders
  raw: string
  /** The answer; null: the connection broke. */
  code: number | null
}

type Conduct = (post: Pick<Post, 'headers' | 'raw'>) => Promise<number | null> | number | null

export type Receiver = {
  url: string
  posts: Post[]
  conduct: Conduct
  close: () => Promise<void>
}

export const openReceiver = async (workers: Workers, now: () => number): Promise<Receiver> => {
  // A port is soon somebody else's: what another process sends to the one it had is not ours.
  const path = `/webhooks/${randomUUID()}`
  const server = createServer(async (request, response) => {
    if (request.url !== path) {
      response.writeHead(404).end()
      return
    }
    const post: Post = { at: now(), headers: request.headers, raw: await text(request), code: null }
    try {
      await workers.effectFromAfar('post', async () => {
        receiver.posts.push(post)
        post.code = await receiver.conduct(post)
      })
      if (post.code === null) throw new Error('no answer')
      response.writeHead(post.code).end()
    } catch {
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    posts: [],
    conduct: () => 204,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}
