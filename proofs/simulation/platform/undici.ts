import { current } from '../engine/current.ts'

type Options = {
  origin?: string
  path: string
  method: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

type Response = { statusCode: number; headers: Record<string, string>; body: AsyncIterable<Buffer> }

/** Without a stream of Node, which takes turns of its event loop. */
async function* bodyOf(text: string) {
  yield Buffer.from(text)
}

const exchange = (origin: string, { path, method, headers, body = '', signal }: Options) =>
  current().network.exchange({ url: `${origin}${path}`, method, headers, body }, signal)

type Handler = {
  onResponseStart: (controller: null, code: number, headers: Record<string, string>) => void
  onResponseData: (controller: null, part: Buffer) => void
  onResponseEnd: () => void
  onResponseError: () => void
}

export class Client {
  readonly #origin: string
  readonly #destroyed = new AbortController()

  constructor(origin: string) {
    this.#origin = origin
  }

  dispatch(options: Omit<Options, 'signal'>, handler: Handler): boolean {
    exchange(this.#origin, { ...options, signal: this.#destroyed.signal }).then(
      ({ code, headers, text }) => {
        handler.onResponseStart(null, code, headers)
        handler.onResponseData(null, Buffer.from(text))
        handler.onResponseEnd()
      },
      handler.onResponseError,
    )
    return true
  }

  async destroy(): Promise<void> {
    this.#destroyed.abort()
  }
}

export class Agent {
  async request(options: Options): Promise<Response> {
    const { code, headers, text } = await exchange(options.origin ?? '', options)
    return { statusCode: code, headers, body: bodyOf(text) }
  }

  async close(): Promise<void> {}
}
