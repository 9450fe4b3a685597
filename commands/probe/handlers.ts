import { SecretsProvider } from '@aws-lambda-powertools/parameters/secrets'
import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from 'aws-lambda'
import * as v from 'valibot'
import { clientLimits } from '../../shared/client-limits.ts'
import { METRICS_NAMESPACE, metricsService } from '../../shared/metrics.ts'
import { verify } from '../listener/verify.ts'
import { ProbeSecret, runProbe } from './steps.ts'

/** The functions of the probe (docs/deployment.md#probe): one runs each minute, one receives its webhooks. */

/** Less than the function's timeout, so that a run that hangs still writes its metrics. */
const RUN_MS = 45_000
const SECRET_CACHE_SECONDS = 300

const secretIn = (text: unknown): ProbeSecret => {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), ProbeSecret), text)
  // Without the issues, which would name parts of the value.
  if (!parsed.success) throw new Error('The secret is not set (docs/deployment.md#probe)')
  return parsed.output
}

const writeLine = (line: object): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

const writeMetrics = (isSuccess: boolean, milliseconds: number): void =>
  writeLine({
    service: metricsService(process.env.STAGE ?? ''),
    ProbeSucceeded: isSuccess ? 1 : 0,
    ProbeMilliseconds: Math.round(milliseconds),
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        {
          Namespace: METRICS_NAMESPACE,
          Dimensions: [['service']],
          Metrics: [
            { Name: 'ProbeSucceeded' },
            { Name: 'ProbeMilliseconds', Unit: 'Milliseconds' },
          ],
        },
      ],
    },
  })

type WebhookRequest = Pick<LambdaFunctionURLEvent, 'headers' | 'body' | 'isBase64Encoded'>

export const probeHandlers = (readText: () => Promise<unknown>) => ({
  /** Runs the steps once. A failure is a metric and a line, never an error: Lambda would count it twice. */
  probe: async (): Promise<void> => {
    const startedAt = performance.now()
    let isSuccess = false
    try {
      const charges = process.env.SANDBOX_BANK === 'true'
      const signal = AbortSignal.timeout(RUN_MS)
      await runProbe(secretIn(await readText()), { charges, at: new Date(), signal })
      isSuccess = true
    } catch (error) {
      writeLine({ level: 'ERROR', message: 'probe failed', reason: (error as Error).message })
    }
    writeMetrics(isSuccess, performance.now() - startedAt)
  },
  /** Replies 204 to a webhook that the SDK verifies, and 401 to any other, so that its delivery fails. */
  receive: async (request: WebhookRequest): Promise<LambdaFunctionURLResult> => {
    const { headers, body = '', isBase64Encoded } = request
    const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
    const { webhook_secret: secret } = secretIn(await readText())
    const problem = await verify({ headers, body: bytes }, secret, new Date())
    if (problem) writeLine({ level: 'ERROR', message: 'webhook refused', reason: problem })
    return { statusCode: problem ? 401 : 204 }
  },
})

const secrets = new SecretsProvider({ clientConfig: clientLimits.secrets })

export const { probe, receive } = probeHandlers(() =>
  secrets.get(process.env.PROBE_SECRET_ARN ?? '', { maxAge: SECRET_CACHE_SECONDS }),
)
