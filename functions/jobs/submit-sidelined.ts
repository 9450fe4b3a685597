import type { SandboxReport } from '../../shared/domain/banks/sandbox-outcome.ts'
import { batchConsumer } from '../../shared/queues/consume.ts'
import { sandboxOutcome } from '../../shared/queues/outbox.ts'
import { batchedSend } from '../../shared/queues/send.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { newSubmitter } from '../../shared/submissions/submit.ts'

/** Submits the debits of slow banks, with separate workers that wait longer for a reply. */
export const submitSidelined = (runtime: Runtime) =>
  batchConsumer('submissions-sidelined', () => {
    const send = batchedSend()
    const reportLater = (report: SandboxReport) => send(sandboxOutcome(report))
    const submit = newSubmitter({ skipsSlowBanks: false, reportLater }, runtime)
    return async ({ reference, resubmission }, requestId, { repeated }) => {
      await submit({ reference, repeated: repeated || resubmission === true, requestId })
    }
  })

export const handler = submitSidelined(real)
