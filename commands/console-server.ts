import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { ConsoleBackend } from '../console/server/backend.ts'
import { consoleHandler } from '../console/server/handler.ts'
import { close, listenAt, readBody } from '../sandbox/local-server.ts'
import { isLocal, targetOf } from '../sandbox/request-target.ts'
import { StartFailure } from '../sandbox/start-failure.ts'
import { nouns } from '../shared/operator/catalogue.ts'
import { callerOf, operate } from './operator-client.ts'
import { watchOf } from './stage-watch.ts'

/** Serves the console of a stage, whose operator functions it invokes with the shell's credentials. */

/** A bank's statement is sent in parts of less than this. */
const BODY_MAX_BYTES = 10 * 1024 * 1024

const stageBackend = (stage: string): ConsoleBackend => ({
  stage,
  clock: { now: () => new Date(), isFrozen: () => false },
  caller: async () => {
    const names = Object.keys(nouns)
    const callers = await Promise.all(names.map((noun) => callerOf(stage, noun)))
    return {
      operator: callers.find((caller) => caller !== undefined) ?? '',
      nouns: names.filter((_, index) => callers[index] !== undefined),
    }
  },
  operate: ({ noun, verb, options }) => operate({ stage }, noun, { verb, options }),
  watch: watchOf(stage),
})

const refuse = (response: ServerResponse, status: number, message: string): void => {
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    .end(`${message}\n`)
}

/**
 * Opens the console on a port of this machine, 0 for a free one. @returns its address and its end
 * @throws StartFailure or InvocationFailure with one line
 */
export const openConsole = async (stage: string, port: number) => {
  const backend = stageBackend(stage)
  const { nouns } = await backend.caller()
  if (nouns.length === 0) {
    throw new StartFailure(`These AWS credentials allow no operator function of ${stage}`)
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
    const body = await readBody(request, BODY_MAX_BYTES)
    if (!body) return refuse(response, 413, 'The request is too large')
    await serveConsole({ pathname: target.pathname, host: target.host, body }, request, response)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      process.stderr.write(`${(error as Error).message}\n`)
      response.destroy()
    })
  })
  const actualPort = await listenAt(server, port)
  return { address: `http://127.0.0.1:${actualPort}/console`, stop: () => close(server) }
}
