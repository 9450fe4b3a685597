import type { Webhook } from '../../../shared/domain/providers/provider.ts'
import { changeBank } from '../../../shared/store/banks/banks.ts'
import { putCredential } from '../../../shared/store/providers/credentials.ts'
import { changePartner } from '../../../shared/store/providers/providers.ts'
import { putSweepProgress } from '../../../shared/store/sweep-progress.ts'
import { changeWebhook } from '../../../shared/store/webhooks/webhooks.ts'
import { demoPartner, gcb, NOON } from '../examples.ts'

/** A partner with a webhook, and a bank, under the credentials of the sample events. */
export const plant = async (webhook: Webhook): Promise<void> => {
  const createdAt = NOON.toISOString()
  await Promise.all([
    changeBank(gcb.identifier, () => gcb),
    changePartner(demoPartner.id, () => demoPartner),
    putCredential('sk_sandbox_demo', { kind: 'provider', owner: demoPartner.id, createdAt }),
    putCredential('bt_sandbox_gcb', { kind: 'bank', owner: gcb.identifier, createdAt }),
    changeWebhook(demoPartner.id, () => webhook),
    putSweepProgress({ until: NOON }),
  ])
}
