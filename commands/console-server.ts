import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
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

const readCaller = async (stage: string) => {
  const names = Object.keys(nouns)
  const callers = await Promise.all(names.map((noun) => callerOf(stage, noun)))
  return {
    operator: callers.find((caller) => caller !== undefined) ?? '',
    nouns: names.filter((_, index) => callers[index] !== undefined),
  }
}

type StageCaller = Awaited<ReturnType<typeof readCaller>>

/** A page does not wait longer for the permissions of a slow stage: it begins with the last ones. */
const CALLER_MS = 1_000

const callerOfPage = (stage: string, first: StageCaller) => {
  let last = first
  return (): Promise<StageCaller> => {
    const current = readCaller(stage).then((caller) => {
      last = caller
      return caller
    })
    return Promise.race([current, pause(CALLER_MS).then(() => last)])
  }
}

const stageBackend = (stage: string, first: StageCaller): ConsoleBackend => ({
  stage,
  clock: { now: () => new Date(), isFrozen: () => false },
  caller: callerOfPage(stage, first),
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
 * @throws StartFailure with one line
 */
export const openConsole = async (stage: string, port: number) => {
  const caller = await readCaller(stage)
  if (caller.nouns.length === 0) {
    throw new StartFailure(`These AWS credentials allow no operator function of ${stage}`)
  }
  const backend = stageBackend(stage, caller)
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
