import { Readable } from 'node:stream'
import { current } from '../engine/current.ts'

/** Replaces `undici`. */

type Options = {
  origin?: string
  path: string
  method: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

type Response = { statusCode: number; headers: Record<string, string>; body: Readable }

const request = async (
  origin: string,
  { path, method, headers, body = '', signal }: Options,
): Promise<Response> => {
  const asked = { url: `${origin}${path}`, method, headers, body }
  const { code, headers: answered, text } = await current().network.exchange(asked, signal)
  return { statusCode: code, headers: answered, body: Readable.from([Buffer.from(text)]) }
}

export class Client {
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = origin
  }

  request(options: Options): Promise<Response> {
    return request(this.#origin, options)
  }

  async destroy(): Promise<void> {}
}

export class Agent {
  request(options: Options): Promise<Response> {
    return request(options.origin ?? '', options)
  }

  async close(): Promise<void> {}
}
