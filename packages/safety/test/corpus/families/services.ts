import { familiesOf } from './family.js'

const chat = familiesOf('chat', 'token', {
  'slack-bot-token': ['xoxb-<digits:12>-<digits:13>-{base62:24}', 'slack bot token', 'slack token'],
  'slack-user-token': ['xoxp-<digits:12>-<digits:12>-<digits:12>-{hex:32}', 'slack user token'],
  'slack-app-token': ['xapp-1-A<BASE36:10>-<digits:13>-{hex:64}', 'slack app token'],
  'slack-signing-secret': ['{hex:32}', 'slack signing secret'],
  'discord-token': ['M<base62:23>.<url:6>.{url:38}', 'discord bot token', 'discord token'],
  'telegram-token': ['<digits:10>:AA{url:33}', 'telegram bot token', 'tg token'],
  'mattermost-token': ['{base36:26}', 'mattermost token'],
  'matrix-token': ['syt_<base62:12>_{base62:20}_<base62:6>', 'matrix access token'],
  'facebook-token': ['EAA{base62:150-190}', 'facebook access token', 'whatsapp token'],
  'twitter-bearer': ['AAAAAAAAAAAAAAAAAAAAA{base62:80}', 'twitter bearer token'],
})

const payment = familiesOf('payment', 'token', {
  'stripe-key': [['sk_live_{base62:24}', 'rk_live_{base62:99}'], 'stripe secret key', 'stripe api key'],
  'stripe-webhook-secret': ['whsec_{base62:32}', 'stripe webhook secret'],
  'square-token': [['EAAA{url:60}', 'sq0csp-{url:43}'], 'square access token', 'square secret'],
  'paypal-secret': ['E{url:79}', 'paypal client secret', 'paypal secret'],
  'braintree-token': [
    ['access_token', 'production', '<base36:16>', '{hex:32}'].join('$'),
    'braintree access token',
  ],
  'shopify-token': [['shpat_{hex:32}', 'shpss_{hex:32}'], 'shopify access token', 'shopify api secret'],
  'razorpay-secret': ['{base62:24}', 'razorpay key secret', 'razorpay secret'],
  'adyen-key': ['AQE<lower:1>hmfx{base64:120-140}', 'adyen api key'],
  'plaid-secret': ['{hex:30}', 'plaid secret'],
  'mollie-key': ['live_{base62:30}', 'mollie api key'],
  'paddle-key': ['pdl_live_apikey_<crockford:26>_{base62:22}_<base62:3>', 'paddle api key'],
})

const messaging = familiesOf('messaging', 'token', {
  'sendgrid-key': ['SG.{url:22}.{url:43}', 'sendgrid api key'],
  'mailgun-key': ['key-{hex:32}', 'mailgun api key', 'mailgun key'],
  'mailchimp-key': ['{hex:32}-us<digits:1-2>', 'mailchimp api key'],
  'postmark-token': ['{uuid}', 'postmark server token', 'postmark api token'],
  'twilio-auth-token': ['{hex:32}', 'twilio auth token'],
  'twilio-api-key': ['SK{hex:32}', 'twilio api key'],
  'brevo-key': ['xkeysib-{hex:64}-{base62:16}', 'brevo api key', 'sendinblue key'],
  'resend-key': ['re_{base62:8}_{base62:24}', 'resend api key'],
})

const models = familiesOf('models', 'token', {
  'openai-key': [['sk-proj-{url:74}T3BlbkFJ{url:74}', 'sk-{base62:20}T3BlbkFJ{base62:20}'], 'openai api key'],
  'anthropic-key': ['sk-ant-api03-{url:93}AA', 'anthropic api key', 'claude api key'],
  'huggingface-token': ['hf_{base62:34}', 'hf token', 'huggingface token'],
  'groq-key': ['gsk_{base62:52}', 'groq api key'],
  'replicate-token': ['r8_{base62:37}', 'replicate api token'],
  'mistral-key': ['{base62:32}', 'mistral api key'],
  'cohere-key': ['{base62:40}', 'cohere api key', 'co api key'],
  'xai-key': ['xai-{base62:80}', 'xai api key'],
  'perplexity-key': ['pplx-{base62:48}', 'perplexity api key'],
  'openrouter-key': ['sk-or-v1-{hex:64}', 'openrouter api key'],
})

const saas = familiesOf('saas', 'token', {
  'notion-token': [['ntn_{base62:46}', 'secret_{base62:43}'], 'notion token', 'notion api key'],
  'linear-key': ['lin_api_{base62:40}', 'linear api key'],
  'figma-token': ['figd_{url:40}', 'figma token', 'figma access token'],
  'airtable-token': ['pat<base62:14>.{hex:64}', 'airtable api key', 'airtable pat'],
  'asana-token': ['1/<digits:16>:{hex:32}', 'asana access token', 'asana pat'],
  'dropbox-token': ['sl.{url:130-150}', 'dropbox access token'],
  'hubspot-token': ['pat-na1-{uuid}', 'hubspot access token', 'hubspot api key'],
  'algolia-key': ['{hex:32}', 'algolia admin key', 'algolia api key'],
  'mapbox-token': ['sk.eyJ{base62:80-90}.{url:22}', 'mapbox secret token', 'mapbox access token'],
  'postman-key': ['PMAK-<hex:24>-{hex:34}', 'postman api key'],
  'contentful-token': ['CFPAT-{url:43}', 'contentful management token'],
  'launchdarkly-key': ['sdk-{uuid}', 'launchdarkly sdk key', 'ld sdk key'],
  'okta-token': ['00{url:40}', 'okta api token', 'okta token'],
  'auth0-secret': ['{url:64}', 'auth0 client secret'],
  'zendesk-token': ['{base62:40}', 'zendesk api token'],
  'trello-token': ['ATTA{hex:72}', 'trello token'],
})

export const services = [...chat, ...payment, ...messaging, ...models, ...saas]
