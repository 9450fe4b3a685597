import { type Mutant, mutantsOf } from '../mutant.ts'

/** Objects that belong to one provider or one bank. */

export const tenancy: readonly Mutant[] = [
  ...mutantsOf('tenancy', 'shared/store/debits/debits.ts', [
    {
      name: 'status-read-by-any-provider',
      from: 'return debit?.facts.provider === provider ? debit : undefined',
      to: 'return debit',
      invariants: [32],
      needs: 'a provider that asks for the debit of another',
    },
    {
      name: 'report-by-any-bank',
      from: 'return assumed?.facts.bank.identifier === bank ? assumed : undefined',
      to: 'return assumed',
      invariants: [32, 33],
      needs: 'a bank that reports on the debit of another',
    },
  ]),
  ...mutantsOf('tenancy', 'functions/provider/redeliver-event.ts', [
    {
      name: 'redelivery-for-any-provider',
      from: 'if (event?.provider !== caller.provider.id) return',
      to: 'if (!event) return',
      invariants: [32],
      needs: 'a provider that asks for the redelivery of an event of another',
    },
  ]),
  ...mutantsOf('tenancy', 'shared/store/webhooks/webhooks.ts', [
    {
      name: 'webhook-kept-warm-for-everybody',
      from: `export const findWebhook = async (id: ProviderId): Promise<Webhook | undefined> => {
  const item = await findItem(id)
  return item && opened(item, id)
}`,
      to: `let warm: Webhook | undefined

export const findWebhook = async (id: ProviderId): Promise<Webhook | undefined> => {
  const item = warm ? undefined : await findItem(id)
  warm ??= item && (await opened(item, id))
  return warm
}`,
      invariants: [18, 19],
      needs: 'two providers with webhooks in one warm function',
    },
  ]),
  ...mutantsOf('tenancy', 'shared/store/keys.ts', [
    {
      name: 'references-shared-by-providers',
      from: 'pk: `PROVIDER#${provider}#${sha256(partnerReference)}`,',
      to: 'pk: `PROVIDER#${sha256(partnerReference)}`,',
      invariants: [1, 2, 10, 32],
      needs: 'two providers that use the same partner_reference',
    },
    {
      name: 'one-settlement-for-all-providers',
      from: 'unsettled: (provider: ProviderId): string => `SETTLE#${provider}`,',
      to: 'unsettled: (_provider: ProviderId): string => `SETTLE#`,',
      invariants: [22, 29],
      needs: 'two providers with completed debits, and a night of runs',
    },
    {
      name: 'one-daily-limit-for-all-providers',
      from: `    pk: \`PROVIDER#\${provider}\`,
    sk: \`DAY#\${day}\`,`,
      to: `    pk: \`PROVIDER#\`,
    sk: \`DAY#\${day}\`,`,
      invariants: [20, 21],
      needs: 'two providers with daily limits that charge on one day',
    },
  ]),
]
