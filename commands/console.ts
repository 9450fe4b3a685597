import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ConsoleBackend } from '../console/server/backend.ts'
import { consoleHandler } from '../console/server/handler.ts'
import { isLocal, targetOf } from '../sandbox/request-target.ts'
import { nouns } from '../shared/operator/catalogue.ts'
import type { OperatorReply } from '../shared/operator/verbs.ts'
import { actorOf, invokeFunction, mayInvoke } from './functions-client.ts'
import { portIn, readArguments } from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'

/**
 * `debit console --stage NAME`: serves the console of a stage on this machine. It invokes the
 * operator functions with the shell's AWS credentials.
 */

/** A bank's statement is sent in parts of less than this. */
const BODY_MAX_BYTES = 10 * 1024 * 1024

const stageBackend = (stage: string): ConsoleBackend => {
  const target = { stage }
  const actor = actorOf(target)
  return {
    stage,
    clock: { now: () => new Date(), isFrozen: () => false },
    operator: () => actor,
    nouns: async () => {
      const names = Object.keys(nouns)
      const allowed = await Promise.all(names.map((noun) => mayInvoke(target, `manage-${noun}`)))
      return names.filter((_, index) => allowed[index])
    },
    operate: async ({ noun, verb, options }) => {
      const event = { verb, options, actor: await actor }
      return (await invokeFunction(target, `manage-${noun}`, event)) as OperatorReply
    },
  }
}

/** @returns undefined for a body that is too large */
const bodyOf = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > BODY_MAX_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const refuse = (response: ServerResponse, status: number, message: string): void => {
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    .end(`${message}\n`)
}

const command = await readArguments({
  name: 'console',
  form: '--stage NAME [--port 3100]',
  summary: 'Serves the console of a stage on this machine, with the AWS credentials of the shell.',
  options: { stage: { type: 'string', default: '' }, port: { type: 'string', default: '3100' } },
})
const { stage } = command.values
if (!/^[a-z][a-z0-9-]{0,19}$/.test(stage)) command.refuse("--stage: must be a stage's name")
const port = portIn(command.values.port, command.refuse, 0)
const backend = stageBackend(stage)
try {
  const allowed = await backend.nouns()
  if (allowed.length === 0) fail(`These AWS credentials allow no operator function of ${stage}`)
} catch (error) {
  fail((error as Error).message)
}
const serveConsole = consoleHandler(backend)

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const target = targetOf(request)
  if (!isLocal(target, request.headers, [])) {
    return refuse(response, 403, 'Only this machine may use the console')
  }
  if (target.pathname === '/') {
    response.writeHead(302, { location: '/console' }).end()
    return
  }
  const body = await bodyOf(request)
  if (!body) return refuse(response, 413, 'The request is too large')
  await serveConsole({ pathname: target.pathname, host: target.host, body }, request, response)
}

const server = createServer((request, response) => {
  handle(request, response).catch((error) => {
    process.stderr.write(`${(error as Error).message}\n`)
    response.destroy()
  })
})
server.on('error', ({ code, message }: NodeJS.ErrnoException) =>
  fail(code === 'EADDRINUSE' ? `Port ${port} is taken; choose another with --port` : message),
)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => process.exit(0))
}
await once(server.listen(port, '127.0.0.1'), 'listening')
const { port: actualPort } = server.address() as AddressInfo
process.stdout.write(`ready http://127.0.0.1:${actualPort}/console\n`)
