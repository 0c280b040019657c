import { render } from 'preact'
import { App } from './view/app.js'

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no root')
render(<App />, root)
