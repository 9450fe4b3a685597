import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { addressScope } from '../../shared/api/address.ts'
import { requestIdOf } from '../../shared/api/context.ts'
import { refusalReply } from '../../shared/api/envelope.ts'
import { rateRefusal } from '../../shared/api/rate-guard.ts'
import { resourceAt } from '../../shared/api/resources.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { log } from '../../shared/log.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { sha256 } from '../../shared/store/keys.ts'
import { countRequest, unused } from '../../shared/store/rate-limit.ts'

/** Unmatched requests per minute and address (docs/openapi.json). */
const GENERAL_LIMIT = { production: 60, sandbox: 30 }

type Event = Pick<APIGatewayProxyEvent, 'path' | 'requestContext'>

/** Replies to unmatched requests: 405/1405 for a known path, else 404/1404; 429/1453 above the limit. */
export const answerUnmatched =
  (runtime: Pick<Runtime, 'now' | 'wallTime' | 'newId'>) =>
  async (event: Event): Promise<APIGatewayProxyResult> => {
    const { path, requestContext } = event
    const at = runtime.now()
    const receivedAt = runtime.wallTime()
    const requestId = requestIdOf(event, runtime)
    const limit = GENERAL_LIMIT[environment.limits]
    const scope = `unmatched#${sha256(addressScope(requestContext?.identity?.sourceIp))}`
    // The reply does not need the table, so an outage of it must not cause a 5xx.
    const rate = await countRequest(scope, limit, receivedAt).catch((error) => {
      log.error('fault', { operation: 'answer-unmatched', request_id: requestId, error })
      return unused(limit, receivedAt)
    })
    const refusal = rate.exceeded ? rateRefusal(1453, { rate, receivedAt }) : refusalOf(path)
    return refusalReply(refusal, { requestId, at, rate })
  }

const refusalOf = (path: string): Refusal => {
  const resource = resourceAt(path)
  return resource
    ? new Refusal(1405, { headers: { Allow: Object.keys(resource.methods).join(', ') } })
    : new Refusal(1404)
}

export const handler = answerUnmatched(real)
