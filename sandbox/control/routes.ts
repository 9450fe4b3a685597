import type { APIGatewayProxyResult } from 'aws-lambda'
import { refusalReply, successReply } from '../../shared/api/envelope.ts'
import { malformed, NOT_AN_OBJECT, NOT_JSON } from '../../shared/api/json-body.ts'
import { isObject, parseJson } from '../../shared/domain/json.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { newRequestId } from '../gateway-event.ts'
import { unusedRate } from '../sandbox-reply.ts'
import { listScenarios, playScenario } from '../scenarios/routes.ts'
import { moveClock, showClock, stateOf } from './clock.ts'
import type { Control } from './control.ts'

/** The routes below /sandbox (docs/sandbox.md#control), with replies in the API's envelope. */

export type ControlRequest = { method: string; pathname: string; body: Buffer }

/** @param body undefined for an empty one */
type Serve = (
  control: Control,
  body: Record<string, unknown> | undefined,
  path: Record<string, string>,
) => Promise<unknown | Refusal> | unknown | Refusal

/** Deletes everything, and restores the seeds and the time of this machine. */
const reset: Serve = async (control) => {
  await control.reset()
  return stateOf(control)
}

const inTurn =
  (serve: Serve): Serve =>
  (control, ...request) =>
    control.inTurn(async () => serve(control, ...request))

const routes: readonly { path: RegExp; methods: Record<string, Serve> }[] = [
  { path: /^\/sandbox\/clock$/, methods: { GET: showClock, POST: inTurn(moveClock) } },
  { path: /^\/sandbox\/reset$/, methods: { POST: inTurn(reset) } },
  { path: /^\/sandbox\/scenarios$/, methods: { GET: listScenarios } },
  { path: /^\/sandbox\/scenarios\/(?<name>[^/]+)$/, methods: { POST: inTurn(playScenario) } },
]

const bodyOf = (bytes: Buffer): Record<string, unknown> | undefined | Refusal => {
  if (bytes.length === 0) return undefined
  const body = parseJson(bytes.toString('utf8'))
  if (body === undefined) return malformed(NOT_JSON)
  return isObject(body) ? body : malformed(NOT_AN_OBJECT)
}

const answer = async (control: Control, { method, pathname, body }: ControlRequest) => {
  const match = routes.flatMap(({ path, methods }) => {
    const found = path.exec(pathname)
    return found ? [{ methods, parameters: { ...found.groups } }] : []
  })[0]
  if (!match) return new Refusal(1404)
  const handle = Object.hasOwn(match.methods, method) ? match.methods[method] : undefined
  if (!handle)
    return new Refusal(1405, { headers: { Allow: Object.keys(match.methods).join(', ') } })
  const parsed = bodyOf(body)
  return parsed instanceof Refusal ? parsed : handle(control, parsed, match.parameters)
}

export const controlRoutes =
  (control: Control) =>
  async (request: ControlRequest): Promise<APIGatewayProxyResult> => {
    const result = await answer(control, request)
    const at = control.clock.now()
    const frame = { requestId: newRequestId(), at, rate: unusedRate(Date.now()) }
    return result instanceof Refusal
      ? refusalReply(result, frame)
      : successReply({ data: result }, 200, frame)
  }
