import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import * as v from 'valibot'
import { replyHeaders } from '../../shared/api/reply-headers.ts'
import { parseJson } from '../../shared/domain/json.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import { operateFully } from '../../shared/operator/operate.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import { pageAssets } from './assets.ts'
import { type ConsoleBackend, type ConsoleSettings, OUTCOME_MINUTES } from './backend.ts'
import { forms } from './forms.ts'
import type { Live, LiveEvent } from './live.ts'

/** Serves the console: its page, the operator's calls, and live events. */

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Debit collection console</title>
    <link rel="icon" href="/console/icon.svg">
    <link rel="stylesheet" href="/console/page.css">
    <script type="module" src="/console/page.js"></script>
  </head>
  <body>
    <noscript>The console needs JavaScript.</noscript>
  </body>
</html>
`

/** The icon of a tab is blue for a sandbox, purple for a stage and red for production. */
const iconOf = (stage: string | undefined): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="${
    stage === undefined ? '#2a57c5' : stage === 'production' ? '#b42323' : '#6437b8'
  }"/>` +
  '<path d="M4 5h8M4 8h8M4 11h5" stroke="#fff" stroke-width="1.5" stroke-linecap="round"/></svg>'

const pageHeaders = {
  ...replyHeaders,
  'Content-Security-Policy': [
    "default-src 'none'",
    ...['script', 'style', 'img', 'connect'].map((kind) => `${kind}-src 'self'`),
    ...['base-uri', 'form-action', 'frame-ancestors'].map((name) => `${name} 'none'`),
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

type PageFile = readonly [type: string, body: () => string | Promise<string>]

const filesOf = (stage: string | undefined): Record<string, PageFile> => ({
  '/console': ['text/html', () => HTML],
  '/console/': ['text/html', () => HTML],
  '/console/icon.svg': ['image/svg+xml', () => iconOf(stage)],
  '/console/page.js': ['text/javascript', async () => (await pageAssets()).script],
  '/console/page.css': ['text/css', async () => (await pageAssets()).style],
})

const Call = v.object({
  noun: v.picklist(Object.keys(nouns)),
  verb: v.string(),
  options: v.optional(v.record(v.string(), v.string()), {}),
  operator: v.optional(v.string()),
})

export type ConsoleHandler = (
  request: { pathname: string; host: string; body: Buffer },
  incoming: IncomingMessage,
  response: ServerResponse,
) => Promise<void>

/** Keeps proxies and browsers from closing a quiet stream. */
const HEARTBEAT_MS = 15_000

export const isConsolePath = (pathname: string): boolean => /^\/console(?:\/|$)/.test(pathname)

/** Returns the operator command as the caller of this process can type it. */
const operatorCommand = (script = process.env.npm_lifecycle_event): string => {
  if (script === 'console' || script === 'sandbox') return 'npm run -s operator --'
  return script === 'debit' ? 'npm run -s debit -- operator' : 'debit operator'
}

const settingsOf = async (backend: ConsoleBackend): Promise<ConsoleSettings> => {
  const { stage = null, seeds = null, live } = backend
  const own = { command: operatorCommand(), outcome_minutes: OUTCOME_MINUTES, forms, seeds }
  return { stage, ...(await backend.caller()), ...own, is_live: live !== undefined }
}

const stream = (live: Live, response: ServerResponse): void => {
  const send = ({ type, data }: LiveEvent): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  }
  response.writeHead(200, { ...replyHeaders, 'Content-Type': 'text/event-stream' })
  send({ type: 'requests', data: live.requests() })
  const unsubscribe = live.subscribe(send)
  const heartbeat = setInterval(() => response.write(':\n\n'), HEARTBEAT_MS)
  response.once('close', () => {
    clearInterval(heartbeat)
    unsubscribe()
  })
}

/**
 * Reports whether a request comes from the console's page or from no page. A page at another port of this
 * machine has another origin. Browsers send no Origin with some reads.
 */
const isOwn = ({ origin, ...headers }: IncomingHttpHeaders, host: string): boolean =>
  (origin === undefined || origin === `http://${host}`) &&
  /^(?:same-origin|none)$/.test(String(headers['sec-fetch-site'] ?? 'none'))

/** The caller checks that Host and Origin name this machine. */
export const consoleHandler = (backend: ConsoleBackend): ConsoleHandler => {
  const { clock, watch, live } = backend
  const reply = (response: ServerResponse, status: number, body: object): void => {
    const timestamp = clock.now().toISOString()
    const meta = { timestamp, frozen: clock.isFrozen(), api_version: 'v1' }
    response
      .writeHead(status, { ...replyHeaders, 'Content-Type': 'application/json; charset=utf-8' })
      .end(JSON.stringify({ success: status < 300, ...body, meta }))
  }
  const refuse = (response: ServerResponse, status: number, message: string): void =>
    reply(response, status, { error: { message } })

  /** Replies with what a call returns, or with why it is refused or fails. */
  const replyWith = async (response: ServerResponse, call: () => Promise<OperatorReply>) => {
    try {
      const result = await call()
      if ('error' in result) return refuse(response, 422, result.error)
      if (result.fault) {
        const { fault, next_cursor } = result
        return refuse(response, 502, `${fault}; continue with the cursor ${next_cursor}`)
      }
      reply(response, 200, { data: result.result, next_cursor: result.next_cursor })
    } catch (error) {
      refuse(response, 502, (error as Error).message)
    }
  }
  const reads = new Map<string, (() => Promise<unknown>) | undefined>([
    ['GET /console/settings', () => settingsOf(backend)],
    ['GET /console/alarms', watch?.alarms],
    ['GET /console/outcomes', watch?.outcomes],
  ])
  const files = new Map(Object.entries(filesOf(backend.stage)))
  return async ({ pathname, host, body }, { method, headers }, response) => {
    const file = method === 'GET' || method === 'HEAD' ? files.get(pathname) : undefined
    const route = `${method} ${pathname}`
    const read = reads.get(route)
    if (file) {
      const text = await file[1]()
      const contentType = { 'Content-Type': `${file[0]}; charset=utf-8` }
      response.writeHead(200, { ...pageHeaders, ...contentType }).end(text)
    } else if (!isOwn(headers, host)) {
      refuse(response, 403, 'Only the console may make this call')
    } else if (read) {
      await replyWith(response, async () => ({ result: await read() }))
    } else if (route === 'GET /console/live' && live) {
      stream(live, response)
    } else if (route === 'POST /console/operator') {
      const call = v.safeParse(Call, parseJson(body.toString('utf8')))
      if (!call.success) return refuse(response, 400, 'A call has noun, verb and options')
      await replyWith(response, () => operateFully(call.output, backend.operate))
    } else {
      refuse(response, 404, 'The console has no such page')
    }
  }
}
