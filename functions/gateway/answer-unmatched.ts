import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { refusalReply } from '../../shared/api/envelope.ts'
import { resourceAt } from '../../shared/api/resources.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { untouched } from '../../shared/store/windows.ts'

/** Requests per minute in general, for what belongs to no operation (specification, Limits). */
const GENERAL_LIMIT = { production: 60, sandbox: 30 }

/**
 * Answers what no operation takes: 405/1405 where the path exists, else 404/1404. It looks at no
 * credential and at no data, so it tells nothing.
 */
export const answerUnmatched =
  (runtime: Pick<Runtime, 'now' | 'newId'>) =>
  async ({ path }: Pick<APIGatewayProxyEvent, 'path'>): Promise<APIGatewayProxyResult> => {
    const at = runtime.now()
    const rate = untouched(GENERAL_LIMIT[environment.limits], at)
    const resource = resourceAt(path)
    const refusal = resource
      ? new Refusal(1405, { headers: { Allow: Object.keys(resource.methods).join(', ') } })
      : new Refusal(1404)
    return refusalReply(refusal, { requestId: runtime.newId(), at, rate })
  }

export const handler = answerUnmatched(real)
