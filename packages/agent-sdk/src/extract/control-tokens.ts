/** In the format of gpt-oss a message has a header, and an end that answers have as well as thoughts. */
export const answerHeaders = [
  '<|start|>assistant',
  '<|channel|>final<|message|>',
  '<|channel|>commentary<|message|>',
]
/** The header of an answer without its special tokens. */
export const bareAnswerHeader = 'assistantfinal'
export const ends = ['<|end|>', '<|return|>']

/** Tokens that control a conversation, and leak into texts if a server does not know the end of its model's turn. */
export const controls = [
  ...answerHeaders,
  ...ends,
  ...['<|call|>', '<|begin_of_solution|>', '<|end_of_solution|>', '<|start_response|>', '<|end_response|>'],
  ...['<|im_start|>assistant', '<|im_start|>', '<|im_end|>', '<|assistant|>', '<|user|>', '<|observation|>'],
  ...[
    '<|begin_of_text|>',
    '<|end_of_text|>',
    '<|endoftext|>',
    '<|eot_id|>',
    '<|eom_id|>',
    '<|eot|>',
    '<|eom|>',
  ],
  ...['<|start_header_id|>assistant<|end_header_id|>', '<|end_of_turn|>', '<|end_of_turn_token|>'],
  ...[
    '<|turn>model',
    '<turn|>',
    '<start_of_turn>model',
    '<end_of_turn>',
    '[e~[',
    ']~b]ai',
    '<|chatbot_token|>',
  ],
  ...['<｜begin▁of▁sentence｜>', '<｜end▁of▁sentence｜>', '<｜assistant｜>', '<｜user｜>'],
]

/** Those that may be markup of a document as well. */
export const wordControls = ['<s>', '</s>', '<bos>', '<eos>', '<pad>', '<unk>', '[/inst]', '[eos]']
