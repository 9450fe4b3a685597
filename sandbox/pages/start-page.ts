import { credentials, customers } from '../seeds.ts'
import { EXAMPLES, pageHtml } from './layout.ts'

/** The start page of the sandbox, for browsers. */

/** Returns a command that charges the first customer. */
export const firstCharge = (address: string): string =>
  `curl -s ${address}/api/v1/payment-providers/debit-requests/charge \\
  -H 'Authorization: Bearer ${credentials[0].token}' -H 'Content-Type: application/json' \\
  -d '{"phone_number":"${customers[0].phone}","bank_identifier":"GCB","amount":"100.00","currency":"GHS",
       "narration":"Hello","partner_reference":"hello-1"}'`

const row = (name: string, ...cells: readonly string[]): string =>
  `<tr><td><code>${name}</code></td>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`

const table = (heads: readonly string[], rows: readonly string[]): string => `<table>
          <thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>
          <tbody>
            ${rows.join('\n            ')}
          </tbody>
        </table>`

/** Returns the page for the address at which the browser has the sandbox. */
export const startHtml = (address: string): string =>
  pageHtml({
    title: 'Debit collection sandbox',
    kind: 'start',
    head: EXAMPLES,
    body: `<header>
      <h1>Debit collection sandbox</h1>
      <p>This service collects payments from customers' bank accounts in Ghana on behalf of payment
      providers. The sandbox runs all of it on this machine, with demo data and simulated banks.</p>
      <nav aria-label="Pages">
        <a href="/console">Console</a>
        <a href="/docs/guides">Guides</a>
        <a href="/docs">API reference</a>
        <a href="/openapi.json">OpenAPI description</a>
      </nav>
    </header>
    <main>
      <section aria-labelledby="charge">
        <h2 id="charge">A first charge</h2>
        <pre tabindex="0" aria-labelledby="charge"><code>${firstCharge(address)}</code></pre>
        <p>The reply is <code>202</code> with a <code>reference</code>. The bank reports the outcome
        after 30 seconds; <code>--time-scale</code> shortens this.</p>
      </section>
      <section aria-labelledby="numbers">
        <h2 id="numbers">Test numbers</h2>
        <p>The customers have accounts at <code>GCB</code> and <code>ECO</code>; the last one has an
        inactive account at <code>GCB</code>.</p>
        ${table(
          ['Phone number', 'Customer', 'Outcome of a debit'],
          customers.map(({ phone, name, outcome }) => row(phone, name, outcome)),
        )}
      </section>
      <section aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <p>Send a key or token as <code>Authorization: Bearer</code>.</p>
        ${table(
          ['Key or token', 'Caller'],
          credentials.map(({ token, caller }) => row(token, caller)),
        )}
      </section>
    </main>`,
  })
