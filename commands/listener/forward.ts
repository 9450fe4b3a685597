import type { IncomingHttpHeaders } from 'node:http'

/** The response of the receiver to which an event was forwarded; status 502 if it did not respond. */
export type Forwarded = {
  status: number
  milliseconds: number
  text: string
  retryAfter?: string | null
}

const SHOWN_MAX = 200
const TIMEOUT_MS = 60_000
const BODY_MS = 1_000

const isSent = (name: string): boolean =>
  /^(?:x-svc-|webhook-|content-type$|user-agent$)/.test(name)

/** Reads the start of a body. Like the service, the listener does not wait for a slow or endless body. */
const startOf = async ({ body }: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  const write = (part: Uint8Array, controller: WritableStreamDefaultController): void => {
    text += decoder.decode(part, { stream: true })
    if (text.length >= SHOWN_MAX) controller.error()
  }
  const signal = AbortSignal.timeout(BODY_MS)
  await body?.pipeTo(new WritableStream({ write }), { signal }).catch(() => undefined)
  return text
}

/** Sends an event with its signed headers and the same bytes. */
export const forward = async (
  url: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
): Promise<Forwarded> => {
  const startedAt = performance.now()
  const ended = (status: number, text: string): Forwarded => ({
    status,
    milliseconds: Math.round(performance.now() - startedAt),
    text: text
      .slice(0, SHOWN_MAX)
      .replaceAll(/[^ -~]+/g, ' ')
      .trim(),
  })
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        isSent(name) ? [[name, String(value)]] : [],
      ),
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const retryAfter = response.headers.get('retry-after')
    return { ...ended(response.status, await startOf(response)), retryAfter }
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } }
    return ended(502, cause?.code ?? message)
  }
}
