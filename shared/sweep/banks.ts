import { ConnectorFault } from '../banks/connector.ts'
import { noteHealth } from '../banks/note-health.ts'
import { connectors } from '../banks/registry.ts'
import { afterReply, isResuming } from '../domain/banks/health.ts'
import { clocks } from '../domain/debits/timeouts.ts'
import type { Reference } from '../domain/ids.ts'
import { secondsAfter } from '../domain/time.ts'
import { log } from '../log.ts'
import { measure } from '../metrics.ts'
import { submission } from '../queues/outbox.ts'
import { sendAll } from '../queues/send.ts'
import { environment, type Runtime } from '../runtime.ts'
import { findBank } from '../store/banks/banks.ts'
import { connectionConfig } from '../store/banks/connector-settings.ts'
import { downCacheSeconds, readBankHealths } from '../store/banks/health.ts'
import { endWait, waitingPages } from '../store/banks/waiting.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { withFaults } from './repair.ts'

/** A reply after this time does not end an outage. */
const PROBE_SECONDS = 5

const PAGE_SIZE = 500
const REMOVALS_AT_ONCE = 25

/**
 * Probes the banks that are down, and resumes the debits that waited for a bank that replies again.
 * @returns the debits whose submission was sent
 */
export const sweepBanks = async (
  runtime: Runtime,
  timeIsUp: () => boolean,
): Promise<ReadonlySet<Reference>> => {
  const resumed = new Set<Reference>()
  await withFaults('banks', async () => {
    const healths = await readBankHealths(runtime.now())
    await Promise.all(
      [...healths].map(([identifier, health]) =>
        withFaults(identifier, async () => {
          const isUp =
            health.state === 'down'
              ? await probe(identifier, runtime)
              : isResuming(health, runtime.now())
          if (isUp) await resume(identifier, { runtime, timeIsUp, resumed })
        }),
      ),
    )
  })
  return resumed
}

/** Asks a bank that is down for a reply. Measures the outage, so that its alarm rings until the end. */
const probe = async (identifier: string, runtime: Runtime): Promise<boolean> => {
  const bank = await findBank(identifier)
  if (!bank || bank.connector === 'none') return false
  // A probe has no outcome to report.
  const reportLater = async () => undefined
  const config = { ...connectionConfig(runtime, PROBE_SECONDS), reportLater }
  try {
    await connectors(config)[bank.connector].probe(bank.identifier)
  } catch (error) {
    if (!(error instanceof ConnectorFault)) throw error
    log.warn('bank still down', { bank: identifier, error })
    measure({ BankDown: 1 }, { bank: identifier })
    return false
  }
  const at = runtime.now()
  await noteHealth(bank.identifier, (health) => afterReply(health, { at, isPrompt: true }), at)
  return true
}

type Resumption = { runtime: Runtime; timeIsUp: () => boolean; resumed: Set<Reference> }

/** Sends the submissions of the debits that have time left, oldest first. The next run continues. */
const resume = async (bank: string, { runtime, timeIsUp, resumed }: Resumption): Promise<void> => {
  const { submissionSeconds } = clocks(environment.timeScale)
  const after = secondsAfter(runtime.now(), -submissionSeconds)
  // Until then workers may take the bank for down, and the debits would wait again.
  const delaySeconds = downCacheSeconds()
  let count = 0
  for await (const page of waitingPages(bank, { after, pageSize: PAGE_SIZE })) {
    const messages = new Map(
      page.map((debit) => [submission(debit, { resubmission: true, delaySeconds }), debit]),
    )
    const refused = new Set(await sendAll([...messages.keys()]))
    const sent = [...messages].filter(([message]) => !refused.has(message))
    await mapConcurrent(sent, REMOVALS_AT_ONCE, ([, debit]) => endWait(debit))
    for (const [, { reference }] of sent) resumed.add(reference)
    count += sent.length
    if (timeIsUp()) break
  }
  if (count > 0) log.info('submissions resumed', { bank, count })
}
