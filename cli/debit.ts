// Node 20 lacks these features.
import 'core-js/actual/async-disposable-stack/index.js'
import 'core-js/actual/json/index.js'
import 'core-js/actual/map/group-by.js'
import 'core-js/actual/object/group-by.js'
import 'core-js/actual/promise/with-resolvers.js'
import 'core-js/actual/regexp/escape.js'
import { fail } from './fail.ts'

/** `debit COMMAND [options]`: the commands of the packed tarball (cli/pack.ts). */

const commands: Record<string, () => Promise<unknown>> = {
  sandbox: () => import('../sandbox/main.ts'),
  operator: () => import('./operator.ts'),
  listen: () => import('./listen.ts'),
  invoke: () => import('./invoke.ts'),
  clock: () => import('./clock.ts'),
  trigger: () => import('./trigger.ts'),
  fixtures: () => import('./fixtures.ts'),
  console: () => import('./console.ts'),
}

// The package contains its SDK, so the advice to upgrade Node would not help.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'

const [name = ''] = process.argv.splice(2, 1)
const run = Object.hasOwn(commands, name) ? commands[name] : undefined
if (!run) fail(`usage: debit ${Object.keys(commands).join('|')} [options]`)
else await run()
