"""What the product finds out about a model by using it."""

import logging

from django.db.models import F

from llmconfig.models import LLMConfig

logger = logging.getLogger(__name__)


def learn_no_tools(config: LLMConfig) -> None:
    """Its server refuses tools: known from now on, unless a person has said more."""
    unknown = LLMConfig.objects.filter(pk=config.pk, supports_tools=None)
    if unknown.update(supports_tools=False, version=F("version") + 1):
        logger.info("The model of LLM config %s cannot call functions", config.pk)
