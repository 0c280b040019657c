import { describeErrorTexts } from '../../../test/support/error-texts.js'
import { streamTexts } from '../src/errors.js'

describeErrorTexts({ name: 'streamTexts', folder: 'packages/jetstream/src', texts: streamTexts })
